#include "runtime/sim/watch/shadow.h"

#include <string.h>

enum { SWEEP_LEAST = 64 * 1024 };

void shadow_pool_init(ShadowPool *p, Mem *mem)
{
    *p = (ShadowPool){.mem = mem, .nrecord = 1, .nlist = 1, .npart = 1, .npage = 1, .quota = SWEEP_LEAST};
}

void shadow_pool_free(ShadowPool *p)
{
    while (p->first) shadow_free(p->first);
    for (uint32_t i = 1; i < p->npage; i++) mem_free(p->mem, p->page[i]);
    if (p->page) mem_free(p->mem, p->page);
    mem_free(p->mem, p->record);
    mem_free(p->mem, p->list);
    mem_free(p->mem, p->part);
    *p = (ShadowPool){0};
}

/* ---- pages ---- */
Shadow *shadow_new(ShadowPool *p, void *owner, uint64_t bytes)
{
    uint64_t npages = bytes / PAGE_BYTES + (bytes % PAGE_BYTES != 0);
    if (npages > UINT32_MAX) npages = SIZE_MAX / sizeof(Cell); /* mem_resize refuses it */
    size_t size = sizeof(Shadow) + (size_t)npages * sizeof(Cell);
    Shadow *s = mem_resize(p->mem, NULL, npages > UINT32_MAX ? SIZE_MAX : size);
    memset(s, 0, size);
    s->pool = p;
    s->owner = owner;
    s->mem = (Mem){p->mem->realloc, p->mem->user, NULL};
    s->bytes = bytes;
    s->npages = (uint32_t)npages;
    s->next = p->first;
    s->link = &p->first;
    if (s->next) s->next->link = &s->next;
    p->first = s;
    p->pages += npages;
    return s;
}

/* Cells of page i that are in use: the last page may be a small part of one. */
static uint32_t page_cells(const Shadow *s, uint32_t i)
{
    uint64_t left = s->bytes - (uint64_t)i * PAGE_BYTES;
    return left >= PAGE_BYTES ? PAGE_CELLS : (uint32_t)((left + CELL_BYTES - 1) / CELL_BYTES);
}

static void part_free(ShadowPool *p, Cell c)
{
    if (!(c.write & CELL_SPLIT)) return;
    uint32_t g = c.write & ~CELL_SPLIT;
    for (int i = 0; i < 4; i++) part_free(p, p->part[g][i]);
    p->part[g][0] = (Cell){p->freepart, 0};
    p->freepart = g;
}

/* The cells of a page that is split. */
static Cell *page_split(const ShadowPool *p, Cell page)
{
    return p->page[page.write & ~CELL_SPLIT];
}

static void page_free(ShadowPool *p, Cell page)
{
    page_split(p, page)[0].write = p->freepage;
    p->freepage = page.write & ~CELL_SPLIT;
    p->split--;
}

void shadow_free(Shadow *s)
{
    ShadowPool *p = s->pool;
    for (uint32_t i = 0; i < s->npages; i++) {
        if (!(s->page[i].write & CELL_SPLIT)) continue;
        Cell *c = page_split(p, s->page[i]);
        for (uint32_t k = 0, n = page_cells(s, i); k < n; k++) {
            if (c[k].write & CELL_SPLIT) part_free(p, c[k]);
        }
        page_free(p, s->page[i]);
    }
    p->pages -= s->npages;
    *s->link = s->next;
    if (s->next) s->next->link = s->link;
    Mem mem = s->mem;
    mem_free(&mem, s);
}

/* ---- records and lists ---- */
typedef struct Marks {
    ShadowPool *pool;
    uint8_t *record, *list; /* one byte each */
} Marks;

static void mark_record(Marks *m, uint32_t r)
{
    for (; r && !m->record[r]; r = m->pool->record[r].alt) m->record[r] = 1;
}

static void mark_cell(Marks *m, Cell c)
{
    if (c.write & CELL_SPLIT) {
        const Cell *part = m->pool->part[c.write & ~CELL_SPLIT];
        for (int i = 0; i < 4; i++) mark_cell(m, part[i]);
        return;
    }
    mark_record(m, c.write);
    if (!(c.others & CELL_LIST)) {
        mark_record(m, c.others);
        return;
    }
    for (uint32_t l = c.others & ~CELL_LIST; l && !m->list[l]; l = m->pool->list[l].before) {
        m->list[l] = 1;
        for (uint32_t i = 0; i < m->pool->list[l].n; i++) mark_record(m, m->pool->list[l].record[i]);
    }
}

static void mark_all(Marks *m)
{
    const ShadowPool *p = m->pool;
    for (const Shadow *s = p->first; s; s = s->next) {
        for (uint32_t i = 0; i < s->npages; i++) {
            bool parts = s->page[i].write & CELL_SPLIT;
            const Cell *c = parts ? page_split(p, s->page[i]) : &s->page[i];
            Cell last = {0};
            for (uint32_t k = 0, n = parts ? page_cells(s, i) : 1; k < n; k++) {
                if (c[k].write == last.write && c[k].others == last.others) continue;
                mark_cell(m, last = c[k]);
            }
        }
    }
    for (uint32_t r = 1; r < p->nrecord; r++) {
        if (p->record[r].pins) mark_record(m, r);
    }
}

/* Frees records and lists that no cell and no holder names. */
static void sweep(ShadowPool *p)
{
    p->sweeps++;
    memset(p->recent, 0, sizeof p->recent);
    Marks m = {p, mem_resize(p->mem, NULL, (size_t)p->nrecord + p->nlist), NULL};
    m.list = m.record + p->nrecord;
    memset(m.record, 0, (size_t)p->nrecord + p->nlist);
    mark_all(&m);
    uint64_t live = 0;
    p->freerecord = p->freelist = 0;
    for (uint32_t r = 1; r < p->nrecord; r++) {
        live += m.record[r];
        if (m.record[r]) continue;
        p->record[r].alt = p->freerecord;
        p->freerecord = r;
    }
    for (uint32_t l = 1; l < p->nlist; l++) {
        live += m.list[l];
        if (m.list[l]) continue;
        p->list[l].n = p->freelist;
        p->freelist = l;
    }
    mem_free(p->mem, m.record);
    /* The walk over all cells has to be worth it. */
    uint64_t cells = (p->pages + p->split * PAGE_CELLS) / 8;
    p->made = 0;
    p->quota = live > cells ? live : cells;
    if (p->quota < SWEEP_LEAST) p->quota = SWEEP_LEAST;
}

/* One more item of an array with a free chain; numbers stay below the flags of a cell. */
static uint32_t number_new(ShadowPool *p, void **v, uint32_t *n, uint32_t *cap, size_t size)
{
    if (*n == CELL_SPLIT) *v = mem_resize(p->mem, *v, SIZE_MAX); /* jumps */
    *v = mem_grow(p->mem, *v, cap, *n + 1, size);
    return (*n)++;
}

uint32_t record_new(ShadowPool *p)
{
    if (p->made >= p->quota) sweep(p);
    uint32_t r = p->freerecord;
    if (r) {
        p->freerecord = p->record[r].alt;
    } else {
        void *v = p->record;
        r = number_new(p, &v, &p->nrecord, &p->caprecord, sizeof *p->record);
        p->record = v;
    }
    p->made++;
    p->record[r] = (Record){.pins = 1, .done_agent = NO_AGENT};
    return r;
}

void record_unpin(ShadowPool *p, uint32_t r)
{
    if (r) p->record[r].pins--;
}

uint32_t others_get(const ShadowPool *p, uint32_t others, uint32_t out[OTHERS_MAX])
{
    if (others == 0) return 0;
    if (!(others & CELL_LIST)) {
        out[0] = others;
        return 1;
    }
    const Others *l = &p->list[others & ~CELL_LIST];
    uint32_t total = l->total;
    for (;; l = &p->list[l->before]) {
        memcpy(out + (l->total - l->n), l->record, l->n * sizeof *out);
        if (l->before == 0) return total;
    }
}

static uint32_t others_part(ShadowPool *p, const uint32_t *record, uint32_t n, uint32_t before)
{
    uint64_t hash = (n + (uint64_t)before * 16) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = 0; i < n; i++) hash = (hash ^ record[i]) * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t *recent = &p->recent[hash >> 40 & (OTHERS_RECENT - 1)], l = *recent;
    const Others *was = l ? &p->list[l] : NULL;
    if (was && was->n == n && was->before == before && memcmp(was->record, record, n * sizeof *record) == 0) return l;
    l = p->freelist;
    if (l) {
        p->freelist = p->list[l].n;
    } else {
        void *v = p->list;
        l = number_new(p, &v, &p->nlist, &p->caplist, sizeof *p->list);
        p->list = v;
    }
    p->made++;
    p->list[l].n = n;
    p->list[l].before = before;
    p->list[l].total = n + (before ? p->list[before].total : 0);
    memcpy(p->list[l].record, record, n * sizeof *record);
    *recent = l;
    return l;
}

uint32_t others_make(ShadowPool *p, const uint32_t *record, uint32_t n)
{
    uint32_t l = 0;
    if (n < 2) return n ? record[0] : 0;
    for (uint32_t i = 0; i < n; i += OTHERS_PART)
        l = others_part(p, record + i, n - i < OTHERS_PART ? n - i : OTHERS_PART, l);
    return CELL_LIST | l;
}

/* ---- walks ---- */
typedef struct Walk {
    ShadowPool *pool;
    ShadowMemo *memo;
    ShadowStep step;
    void *user;
    uint32_t failed; /* byte of the cell */
} Walk;

static bool same(Cell a, Cell b)
{
    return a.write == b.write && a.others == b.others;
}

static bool step(Walk *w, Cell *c)
{
    ShadowMemo *o = w->memo;
    if (o->valid && same(o->in, *c)) {
        *c = o->out;
        return true;
    }
    Cell out;
    if (!w->step(w->user, *c, &out)) return false;
    *o = (ShadowMemo){*c, out, w->pool->sweeps, true};
    *c = out;
    return true;
}

static Cell split(ShadowPool *p, Cell c)
{
    uint32_t g = p->freepart;
    if (g) {
        p->freepart = p->part[g][0].write;
    } else {
        void *v = p->part;
        g = number_new(p, &v, &p->npart, &p->cappart, sizeof *p->part);
        p->part = v;
    }
    for (int i = 0; i < 4; i++) p->part[g][i] = c;
    return (Cell){CELL_SPLIT | g, 0};
}

static Cell merge(ShadowPool *p, Cell c)
{
    uint32_t g = c.write & ~CELL_SPLIT;
    Cell first = p->part[g][0];
    if (first.write & CELL_SPLIT) return c;
    for (int i = 1; i < 4; i++) {
        if (!same(first, p->part[g][i])) return c;
    }
    part_free(p, c);
    return first;
}

/* Bytes [from, to) of a cell of `size` bytes. */
static bool visit(Walk *w, Cell *c, uint32_t size, uint32_t from, uint32_t to)
{
    if (!(c->write & CELL_SPLIT)) {
        Cell out = *c;
        w->failed = from;
        if (!step(w, &out)) return false;
        if (to - from == size || same(out, *c)) {
            *c = out;
            return true;
        }
        *c = split(w->pool, *c);
    }
    uint32_t g = c->write & ~CELL_SPLIT, quarter = size / 4;
    for (uint32_t i = from / quarter; i * quarter < to; i++) {
        uint32_t base = i * quarter, low = from > base ? from - base : 0, high = to - base;
        Cell part = w->pool->part[g][i]; /* the array may move */
        bool ok = visit(w, &part, quarter, low, high < quarter ? high : quarter);
        w->pool->part[g][i] = part;
        if (!ok) {
            w->failed += base;
            return false;
        }
    }
    *c = merge(w->pool, *c);
    return true;
}

/* Whole cells: mostly long runs of cells that are alike. Returns how many were done. */
static uint64_t walk_cells(Walk *w, Cell *c, uint64_t n, bool *ok)
{
    uint64_t i = 0;
    while (i < n && *ok) {
        if (w->memo->valid) {
            Cell in = w->memo->in, out = w->memo->out;
            for (; i < n && same(c[i], in); i++) c[i] = out;
            if (i == n) break;
        }
        *ok = visit(w, &c[i], CELL_BYTES, 0, CELL_BYTES);
        i += *ok;
    }
    return i;
}

static void page_make(ShadowPool *p, Cell *page)
{
    Cell c = *page;
    uint32_t g = p->freepage;
    if (g) {
        p->freepage = p->page[g][0].write;
    } else {
        void *v = p->page;
        g = number_new(p, &v, &p->npage, &p->cappage, sizeof *p->page);
        p->page = v;
        p->page[g] = NULL; /* the next line may jump */
        p->page[g] = mem_resize(p->mem, NULL, PAGE_CELLS * sizeof(Cell));
    }
    for (uint32_t i = 0; i < PAGE_CELLS; i++) p->page[g][i] = c;
    *page = (Cell){CELL_SPLIT | g, 0};
    p->split++;
}

static void page_merge(ShadowPool *p, Cell *page, uint32_t cells)
{
    const Cell *c = page_split(p, *page);
    Cell first = c[0];
    if (first.write & CELL_SPLIT) return;
    for (uint32_t i = 1; i < cells; i++) {
        if (!same(c[i], first)) return;
    }
    page_free(p, *page);
    *page = first;
}

/* Bytes from .. to of page k. */
static bool walk_page(Walk *w, Shadow *s, uint32_t k, uint32_t from, uint32_t to, uint32_t *failed)
{
    ShadowPool *p = w->pool;
    Cell *page = &s->page[k];
    uint64_t left = s->bytes - (uint64_t)k * PAGE_BYTES;
    bool all = from == 0 && (to == PAGE_BYTES || to == left), ok = true;
    if (!(page->write & CELL_SPLIT)) {
        Cell out = *page;
        *failed = from;
        if (!step(w, &out)) return false;
        if (all) *page = out;
        if (same(out, *page)) return true;
        page_make(p, page);
    }
    Cell *c = page_split(p, *page);
    for (uint32_t at = from, n; at < to; at += n) {
        uint32_t low = at % CELL_BYTES;
        w->failed = 0;
        if (low == 0 && to - at >= CELL_BYTES) {
            n = (uint32_t)walk_cells(w, c + at / CELL_BYTES, (to - at) / CELL_BYTES, &ok) * CELL_BYTES;
            *failed = at + n + w->failed;
        } else {
            n = to - at < CELL_BYTES - low ? to - at : CELL_BYTES - low;
            ok = visit(w, c + at / CELL_BYTES, CELL_BYTES, low, low + n);
            *failed = at - low + w->failed;
        }
        if (!ok) return false;
    }
    if (all) page_merge(p, page, page_cells(s, k));
    return true;
}

bool shadow_walk(Shadow *s, uint64_t at, uint64_t bytes, ShadowMemo *memo, ShadowStep step_, void *user,
                 uint64_t *failed)
{
    ShadowPool *p = s->pool;
    Walk w = {p, memo, step_, user, 0};
    if (memo->sweeps != p->sweeps) memo->valid = false;
    if (at >= s->bytes) return true;
    if (bytes > s->bytes - at) bytes = s->bytes - at;
    while (bytes) {
        uint32_t k = (uint32_t)(at / PAGE_BYTES), from = (uint32_t)(at % PAGE_BYTES), in_page;
        uint32_t to = bytes < PAGE_BYTES - from ? from + (uint32_t)bytes : PAGE_BYTES;
        if (!walk_page(&w, s, k, from, to, &in_page)) {
            *failed = (uint64_t)k * PAGE_BYTES + in_page;
            return false;
        }
        at += to - from;
        bytes -= to - from;
    }
    return true;
}

Cell shadow_at(const Shadow *s, uint64_t at, uint64_t *end)
{
    Cell page = s->page[at / PAGE_BYTES];
    uint64_t in = at % CELL_BYTES, size = CELL_BYTES, base = at - in;
    Cell c = page.write & CELL_SPLIT ? page_split(s->pool, page)[at % PAGE_BYTES / CELL_BYTES] : page;
    while (c.write & CELL_SPLIT) {
        size /= 4;
        base += in / size * size;
        c = s->pool->part[c.write & ~CELL_SPLIT][in / size];
        in %= size;
    }
    *end = base + size;
    return c;
}
