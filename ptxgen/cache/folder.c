#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ptxgen/cache/cache.h"

enum { DEFAULT_LIMIT = 256 << 20, PART_SECONDS = 3600 };

/* ---- where it lies ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void no_cache(Cache *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->said, sizeof c->said, fmt, ap);
    va_end(ap);
    cache_close(c);
}

static bool read_limit(Cache *c)
{
    static const char units[] = "KMG";
    const char *text = getenv("TILECC_CACHE_SIZE");
    c->limit = DEFAULT_LIMIT;
    if (!text || !*text) return true;
    size_t digits = strspn(text, "0123456789");
    const char *rest = text + digits, *unit = *rest ? strchr(units, *rest) : NULL;
    if (!digits || digits > 9 || (*rest && (!unit || rest[1]))) {
        no_cache(c, "TILECC_CACHE_SIZE is '%.60s', which is no size: bytes, or 64M (K, M, G)", text);
        return false;
    }
    c->limit = strtoull(text, NULL, 10) << (unit ? 10 * (unit - units + 1) : 0);
    return true;
}

/* Bytes of the path, which has not all of them where they are too many; below 1: there is no such place. */
static int find_path(Cache *c)
{
    const char *own = getenv("TILECC_CACHE_DIR"), *all = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (own && *own) n = snprintf(c->path, sizeof c->path, "%s", own);
    else if (all && *all == '/') n = snprintf(c->path, sizeof c->path, "%s/tilecc", all);
    else if (home && *home == '/') n = snprintf(c->path, sizeof c->path, "%s/.cache/tilecc", home);
    return n;
}

/* The folder and the one that it lies in, as XDG's rules want them. false: errno says why not; another one may have made it. */
static bool make_folder(char *path)
{
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return true;
    if (errno != ENOENT) return false;
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = 0;
    bool there = mkdir(path, 0700) == 0 || errno == EEXIST;
    *slash = '/';
    return there && (mkdir(path, 0700) == 0 || errno == EEXIST);
}

void cache_open(Cache *c, bool compiles)
{
    *c = (Cache){.folder = -1};
    const char *wanted = getenv("TILECC_CACHE");
    if (wanted && *wanted && strcmp(wanted, "on") != 0) {
        bool known = strcmp(wanted, "off") == 0;
        snprintf(c->off, sizeof c->off, "TILECC_CACHE is '%.60s'%s", wanted, known ? "" : ", and neither on nor off");
        if (compiles && !known) no_cache(c, "%s", c->off);
        if (compiles) return;
    }
    if (!read_limit(c)) return;
    int n = find_path(c);
    if (n < 1 || n >= (int)sizeof c->path) {
        c->path[0] = 0;
        if (n > 0) no_cache(c, "the name of its folder is too long");
        else no_cache(c, "there is no place for it: neither TILECC_CACHE_DIR nor XDG_CACHE_HOME nor HOME names one");
        return;
    }
    const int how = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    c->folder = open(c->path, how);
    if (c->folder < 0 && errno == ENOENT && compiles && make_folder(c->path)) c->folder = open(c->path, how);
    struct stat st;
    if (c->folder < 0) no_cache(c, "the folder can't be opened: %s", strerror(errno));
    else if (fstat(c->folder, &st) != 0) no_cache(c, "the folder can't be looked at");
    else if (st.st_uid != geteuid()) no_cache(c, "the folder belongs to another user");
    else if (st.st_mode & (S_IWGRP | S_IWOTH)) no_cache(c, "others may write to the folder");
}

void cache_close(Cache *c)
{
    if (c->folder >= 0) close(c->folder);
    c->folder = -1;
}

/* ---- what is there ---- */

typedef enum CacheFile { CACHE_FOREIGN, CACHE_ENTRY, CACHE_PART } CacheFile; /* a part: what a process writes, or wrote until it was killed */

/* What has another name is nobody's business here: the folder may be one that holds something else, too. */
static CacheFile cache_file(const char *name)
{
    size_t n = strspn(name, "0123456789abcdef");
    if (n != CACHE_NAME) return CACHE_FOREIGN;
    if (!name[n]) return CACHE_ENTRY;
    return name[n] == '.' && name[n + 1] && !name[n + 1 + strspn(name + n + 1, "0123456789abcdef-")] ? CACHE_PART : CACHE_FOREIGN;
}

typedef struct Found {
    char name[CACHE_NAME + 64];
    CacheFile kind;
    uint64_t size;
    struct timespec used;
} Found;

typedef struct List { /* in the C library's memory: it lives for one call */
    Found *v;
    size_t n, room;
} List;

static bool list_add(List *l, const Cache *c, const char *name)
{
    struct stat st;
    CacheFile kind = cache_file(name);
    if (kind == CACHE_FOREIGN || strlen(name) >= sizeof l->v->name) return true;
    if (fstatat(c->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return true; /* gone meanwhile */
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        Found *v = realloc(l->v, room * sizeof *v);
        if (!v) return false;
        l->v = v;
        l->room = room;
    }
    Found *f = &l->v[l->n++];
    *f = (Found){.kind = kind, .size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0, .used = st.st_mtim};
    memcpy(f->name, name, strlen(name) + 1);
    return true;
}

static bool list_folder(List *l, const Cache *c)
{
    *l = (List){0};
    int fd = openat(c->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0) close(fd);
        return false;
    }
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(d)) != NULL;) ok = list_add(l, c, e->d_name);
    closedir(d);
    return ok;
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const Found *)a)->used, *y = &((const Found *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Nobody writes for so long: the process was killed. */
static bool is_left_over(const Found *f, time_t now)
{
    return f->kind == CACHE_PART && now > f->used.tv_sec && now - f->used.tv_sec > PART_SECONDS;
}

void cache_trim(Cache *c)
{
    List l;
    uint64_t total = 0, most = c->limit - c->limit / 16; /* what comes until the next time has room */
    if (list_folder(&l, c)) {
        time_t now = time(NULL);
        for (size_t i = 0; i < l.n; i++) total += l.v[i].size;
        if (total > most) {
            qsort(l.v, l.n, sizeof *l.v, by_use);
            most -= c->limit / 16; /* so that not each time one has to go */
        }
        for (size_t i = 0; i < l.n; i++) {
            if (total <= most && !is_left_over(&l.v[i], now)) continue;
            if (cache_remove(c, l.v[i].name)) total -= l.v[i].size;
        }
    }
    free(l.v);
}

/* ---- what the user asks for ---- */

static void *libc_realloc(void *user, void *p, size_t n)
{
    (void)user;
    if (n) return realloc(p, n);
    free(p);
    return NULL;
}

/* Is it to go? */
static bool unwanted(const Cache *c, const Found *f, tilecc_cache_work what, time_t now)
{
    if (what == TILECC_CACHE_CLEAR) return true;
    if (what != TILECC_CACHE_VERIFY) return false;
    if (f->kind == CACHE_PART) return is_left_over(f, now);
    Mem mem = {.realloc = libc_realloc};
    CacheEntry e = {0};
    bool damaged;
    if (cache_read(c, f->name, &mem, &e, &damaged)) free(e.block);
    return damaged;
}

static tilecc_status work(const Cache *c, tilecc_cache_work what, tilecc_cache_facts *out)
{
    List l;
    bool ok = list_folder(&l, c);
    int e = 0;
    if (!ok) snprintf(out->why, sizeof out->why, "the folder can't be read");
    time_t now = time(NULL);
    for (size_t i = 0; ok && i < l.n; i++) {
        const Found *f = &l.v[i];
        if (!unwanted(c, f, what, now)) {
            out->entries += f->kind == CACHE_ENTRY;
            out->bytes += f->size;
        } else if (cache_remove(c, f->name)) {
            out->removed++;
        } else {
            e = errno;
            out->left++;
        }
    }
    free(l.v);
    if (ok && out->left) snprintf(out->why, sizeof out->why, "not everything can be removed: %s", strerror(e));
    return ok && !out->left ? TILECC_OK : TILECC_ERROR_ENVIRONMENT;
}

tilecc_status tilecc_cache(tilecc_cache_work what, tilecc_cache_facts *out)
{
    tilecc_cache_facts facts = {.struct_size = sizeof facts};
    Cache c;
    if (!out || (unsigned)what > TILECC_CACHE_CLEAR) return TILECC_ERROR_USAGE;
    cache_open(&c, false);
    memcpy(facts.folder, c.path, sizeof c.path);
    memcpy(facts.off, c.off, sizeof c.off);
    facts.limit = c.limit;
    tilecc_status s = TILECC_OK;
    if (c.folder >= 0) {
        s = work(&c, what, &facts);
    } else if (!c.path[0] || access(c.path, F_OK) == 0) { /* no folder yet is an empty one */
        memcpy(facts.why, c.said, sizeof c.said);
        s = TILECC_ERROR_ENVIRONMENT;
    }
    cache_close(&c);
    size_t room = out->struct_size;
    memcpy(out, &facts, room < sizeof facts ? room : sizeof facts);
    if (room >= sizeof room) out->struct_size = room;
    return s;
}
