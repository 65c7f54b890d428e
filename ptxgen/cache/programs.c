/* What a key says of programs: a compiler or an assembler has no other name than its bytes; a build id is a sum of them that the
 * linker made, and where there is none a file's place in the file system with its times says that nobody has changed it. */
#define _GNU_SOURCE /* dladdr(), dl_iterate_phdr(): glibc, musl, the BSDs */

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ptxgen/cache/cache.h"

/* ---- the compiler: the build id of the library, or of the program, that this is in ---- */

typedef struct BuildId {
    uintptr_t code;
    const unsigned char *id;
    size_t n;
} BuildId;

static bool has_code(const struct dl_phdr_info *info, uintptr_t code)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type == PT_LOAD && code - (info->dlpi_addr + h->p_vaddr) < h->p_memsz) return true;
    }
    return false;
}

static void find_id(BuildId *b, const unsigned char *p, size_t n)
{
    ElfW(Nhdr) note;
    while (n >= sizeof note) {
        memcpy(&note, p, sizeof note);
        size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3, size = ((size_t)note.n_descsz + 3) & ~(size_t)3;
        if (name > n - sizeof note || size > n - sizeof note - name) return;
        p += sizeof note;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(p, "GNU", 4) == 0) {
            b->id = p + name;
            b->n = note.n_descsz;
            return;
        }
        p += name + size;
        n -= sizeof note + name + size;
    }
}

static int look_into(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    BuildId *b = user;
    if (!has_code(info, b->code)) return 0;
    for (int i = 0; i < info->dlpi_phnum && !b->id; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + h->p_vaddr;
        const unsigned char *note;
        memcpy(&note, &at, sizeof note); /* where the loader has put it */
        if (h->p_type == PT_NOTE && h->p_align <= 4) find_id(b, note, h->p_memsz);
    }
    return 1;
}

void key_begin(CacheKey *k, const char *kind)
{
    k->unknown = NULL;
    sha256_init(&k->hash);
    key_text(k, kind);
    key_text(k, TILECC_VERSION);
    tilecc_result *(*here)(const tilecc_options *, const char *, const char *, size_t) = tilecc_compile;
    BuildId b = {0};
    memcpy(&b.code, &here, sizeof b.code);
    dl_iterate_phdr(look_into, &b);
    if (b.n < 8) k->unknown = "the compiler was linked without a build id (-Wl,--build-id)";
    else key_bytes(k, b.id, b.n);
}

/* ---- assemblers ---- */

/* A script may call any other program, and what was changed just now may be changed again within the same tick of the clock. */
enum { SETTLED = 2 };

void key_program(CacheKey *k, const char *path)
{
    struct stat st;
    struct timespec now;
    char magic[4] = {0};
    char *real = realpath(path, NULL);
    int fd = real ? open(real, O_RDONLY | O_CLOEXEC) : -1;
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && read(fd, magic, 4) == 4 && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (fd >= 0) close(fd);
    clock_gettime(CLOCK_REALTIME, &now);
    if (!ok) {
        k->unknown = "the assembler is no ELF file, and might be anything the next time";
    } else if (st.st_ctim.tv_sec + SETTLED > now.tv_sec) {
        k->unknown = "the assembler was changed just now";
    } else {
        key_text(k, real);
        const struct timespec times[2] = {st.st_mtim, st.st_ctim};
        key_number(k, st.st_dev);
        key_number(k, st.st_ino);
        key_number(k, (uint64_t)st.st_size);
        for (int i = 0; i < 2; i++) {
            key_number(k, (uint64_t)times[i].tv_sec);
            key_number(k, (uint64_t)times[i].tv_nsec);
        }
    }
    free(real);
}

void key_program_of(CacheKey *k, const void *code)
{
    Dl_info info;
    if (dladdr(code, &info) && info.dli_fname) key_program(k, info.dli_fname);
    else k->unknown = "the assembler's library has no file";
}
