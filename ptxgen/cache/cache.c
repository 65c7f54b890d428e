#include "ptxgen/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A file: MAGIC, the key, three numbers of 8 bytes, least first (the sizes of output and note, the number), the SHA-256 of all
 * this and of what follows: output and note. */
static const char MAGIC[16] = "tilecc cache 1\n";
enum { NUMBERS = 3, SUMMED = 16 + SHA256_BYTES + 8 * NUMBERS, HEADER = SUMMED + SHA256_BYTES };
enum { ENTRY_MOST = 1 << 28 };

static void put_number(unsigned char *p, uint64_t n)
{
    for (int i = 0; i < 8; i++) p[i] = (unsigned char)(n >> 8 * i);
}

static uint64_t get_number(const unsigned char *p)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n |= (uint64_t)p[i] << 8 * i;
    return n;
}

static void file_sum(const unsigned char *header, const char *output, uint64_t n, const char *note, uint64_t m, unsigned char *sum)
{
    Sha256 h;
    sha256_init(&h);
    sha256_put(&h, header, SUMMED);
    sha256_put(&h, output, (size_t)n);
    sha256_put(&h, note, (size_t)m);
    sha256_end(&h, sum);
}

static void name_of(const unsigned char *key, char name[CACHE_NAME + 1])
{
    for (int i = 0; i < SHA256_BYTES; i++) snprintf(name + 2 * i, 3, "%02x", key[i]);
}

static void key_end(const CacheKey *k, unsigned char key[SHA256_BYTES])
{
    Sha256 h = k->hash; /* it may be asked for again */
    sha256_end(&h, key);
}

static void say(Cache *c, const char *what)
{
    int e = errno;
    if (strerror_r(e, c->said, sizeof c->said) != 0) snprintf(c->said, sizeof c->said, "error %d", e);
    size_t n = strlen(c->said);
    snprintf(c->said + n, sizeof c->said - n, " (%s)", what);
}

/* ---- reading ---- */

/* false: the file ends before, or can't be read. */
static bool read_all(int fd, void *to, size_t n)
{
    for (char *p = to; n;) {
        ssize_t k = read(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* The texts of a file whose header holds what it should; NULL: damaged, or there is no memory. The sizes are no larger than the file. */
static char *read_texts(int fd, const unsigned char *header, uint64_t n, uint64_t m, Mem *mem, bool *damaged)
{
    char *block = mem->realloc(mem->user, NULL, (size_t)(n + m) + 2);
    *damaged = block != NULL;
    if (!block) return NULL;
    char *note = block + n + 1;
    unsigned char sum[SHA256_BYTES];
    bool ok = read_all(fd, block, (size_t)n) && read_all(fd, note, (size_t)m);
    if (ok) file_sum(header, block, n, note, m, sum);
    if (!ok || memcmp(sum, header + SUMMED, SHA256_BYTES) != 0) {
        mem->realloc(mem->user, block, 0);
        return NULL;
    }
    block[n] = note[m] = 0;
    *damaged = false;
    return block;
}

static bool read_file(int fd, const char *name, Mem *mem, CacheEntry *out, bool *damaged)
{
    struct stat st;
    unsigned char header[HEADER];
    char own[CACHE_NAME + 1];
    if (fstat(fd, &st) != 0) return false;
    *damaged = true;
    if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_size > ENTRY_MOST || !read_all(fd, header, HEADER)) return false;
    const unsigned char *key = header + sizeof MAGIC, *numbers = key + SHA256_BYTES;
    uint64_t n = get_number(numbers), m = get_number(numbers + 8), size = (uint64_t)st.st_size;
    name_of(key, own);
    if (memcmp(header, MAGIC, sizeof MAGIC) != 0 || strcmp(own, name) != 0) return false;
    if (n > size || m > size || HEADER + n + m != size) return false;
    char *block = read_texts(fd, header, n, m, mem, damaged);
    if (!block) return false;
    *out = (CacheEntry){block, block, block + n + 1, n, m, get_number(numbers + 16)};
    return true;
}

bool cache_read(const Cache *c, const char *name, Mem *m, CacheEntry *out, bool *damaged)
{
    *damaged = false;
    int fd = openat(c->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* a pipe lets nobody wait */
    if (fd < 0) {
        *damaged = errno == ELOOP || errno == ENXIO; /* a link, a socket */
        return false;
    }
    bool ok = read_file(fd, name, m, out, damaged);
    close(fd);
    return ok;
}

bool cache_remove(const Cache *c, const char *name)
{
    return unlinkat(c->folder, name, 0) == 0 || errno == ENOENT || unlinkat(c->folder, name, AT_REMOVEDIR) == 0;
}

bool cache_get(Cache *c, Mem *m, const CacheKey *k, CacheEntry *out)
{
    unsigned char key[SHA256_BYTES];
    char name[CACHE_NAME + 1];
    bool damaged;
    if (c->folder < 0 || k->unknown) return false;
    key_end(k, key);
    name_of(key, name);
    bool whole = cache_read(c, name, m, out, &damaged);
    if (whole) utimensat(c->folder, name, NULL, AT_SYMLINK_NOFOLLOW); /* used now */
    else if (damaged) cache_remove(c, name);
    return whole;
}

/* ---- writing ---- */

static bool write_all(int fd, const void *from, size_t n)
{
    for (const char *p = from; n;) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* A file of a name that nobody else has: processes of two machines, or containers, may share the folder and have one number. */
static int make_part(const Cache *c, const char *name, char *part, size_t room)
{
    for (int tries = 0; tries < 16; tries++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        snprintf(part, room, "%s.%lx-%lx", name, (unsigned long)getpid(), (unsigned long)now.tv_nsec);
        int fd = openat(c->folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* To look through the folder takes a while where there are many entries. So it is done for each 256th of the limit that is written, by chance: keys are
 * as good as drawn. What is written in between has room, cache_trim(). */
static bool is_time_to_trim(const Cache *c, const unsigned char *key, uint64_t size)
{
    double drawn = (key[0] * 256.0 + key[1]) / 65536;
    return drawn * (double)c->limit <= 256.0 * (double)size;
}

bool cache_put(Cache *c, const CacheKey *k, const CacheEntry *e)
{
    unsigned char header[HEADER] = {0};
    unsigned char *key = header + sizeof MAGIC, *numbers = key + SHA256_BYTES;
    char name[CACHE_NAME + 1], part[CACHE_NAME + 64];
    uint64_t size = HEADER + e->output_size + e->note_size;
    if (k->unknown) snprintf(c->said, sizeof c->said, "%s", k->unknown);
    if (c->folder < 0 || k->unknown) return false;
    struct rlimit most; /* beyond it there is a signal */
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && size > most.rlim_cur) {
        snprintf(c->said, sizeof c->said, "its %llu bytes are more than a file may have here", (unsigned long long)size);
        return false;
    }
    if (size > c->limit || size > ENTRY_MOST) {
        snprintf(c->said, sizeof c->said, "its %llu bytes are more than the cache may hold", (unsigned long long)size);
        return false;
    }
    memcpy(header, MAGIC, sizeof MAGIC);
    key_end(k, key);
    put_number(numbers, e->output_size);
    put_number(numbers + 8, e->note_size);
    put_number(numbers + 16, e->number);
    file_sum(header, e->output, e->output_size, e->note, e->note_size, header + SUMMED);
    name_of(key, name);

    int fd = make_part(c, name, part, sizeof part);
    if (fd < 0) {
        say(c, "no file can be made");
        return false;
    }
    bool ok = write_all(fd, header, HEADER) && write_all(fd, e->output, (size_t)e->output_size) && write_all(fd, e->note, (size_t)e->note_size);
    if (!ok) say(c, "it can't be written");
    if (close(fd) != 0 && ok) {
        say(c, "it can't be written");
        ok = false;
    }
    if (ok && renameat(c->folder, part, c->folder, name) != 0) {
        say(c, "it can't get its name");
        ok = false;
    }
    if (!ok) unlinkat(c->folder, part, 0);
    if (!ok || is_time_to_trim(c, key, size)) cache_trim(c);
    return ok;
}
