/* Every mode of tensor copies but plain tiles (sim_box.c), byte by byte against sim_modes_ref.h: im2col in three to five
 * dimensions, im2col::w and ::w::128 with halos, gather4 and scatter4, packed types, larger swizzle atoms. Descriptors and
 * operands are random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/sim_modes_case.h"
#include "tests/unit/sim_modes_ref.h"
#include "tests/unit/sim_modes_words.h"

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((seed >> 33) % n);
}

static int64_t between(int64_t lo, int64_t hi)
{
    return hi < lo ? lo : lo + (int64_t)below((uint32_t)(hi - lo + 1));
}

static int64_t plan[REF_BYTES], seen[REF_BYTES];

/* ---- comparing ---- */

static void forget(void)
{
    for (int i = 0; i < REF_BYTES; i++) seen[i] = REF_UNTOUCHED;
}

static void see(const BoxWalk *w, const BoxPiece *p)
{
    assert_in_range(p->bytes, 1, 16);
    for (uint32_t i = 0; i < (w->packs ? 16u : p->bytes); i++) {
        assert_int_equal(seen[p->shared + i], REF_UNTOUCHED); /* once only */
        seen[p->shared + i] = p->inside ? (int64_t)p->global + i : REF_FILLED;
    }
}

static bool mark_gap(void *user, uint32_t offset, uint32_t bytes)
{
    (void)user;
    for (uint32_t i = 0; i < bytes; i++) {
        assert_int_equal(seen[offset + i], REF_UNTOUCHED);
        seen[offset + i] = REF_GAP;
    }
    return true;
}

static bool count_shared(void *user, uint32_t offset, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        assert_true(plan[offset + i] >= *(int64_t *)user || plan[offset + i] == REF_GAP);
    for (uint32_t i = 0; i < bytes; i++) seen[offset + i]++;
    return true;
}

static uint64_t inside_bytes;
static bool count_global(void *user, uint64_t address, uint64_t bytes)
{
    (void)user;
    (void)address;
    inside_bytes += bytes;
    return true;
}

/* The ranges that the checks are told: each byte once, all of those that the plan has. */
static void check_ranges(const BoxWalk *w)
{
    uint64_t inside = 0, all = 0, told = 0;
    int64_t least = REF_FILLED;
    for (uint32_t i = 0; i < w->span_bytes; i++) {
        inside += plan[i] >= 0;
        all += plan[i] >= REF_FILLED || (w->packs && plan[i] == REF_GAP);
    }
    for (int i = 0; i < REF_BYTES; i++) seen[i] = 0;
    assert_true(box_shared_ranges(w, false, count_shared, &least));
    for (uint32_t i = 0; i < w->span_bytes; i++) {
        assert_true(seen[i] <= 1);
        told += (uint64_t)seen[i];
    }
    assert_int_equal(told, all);
    least = 0;
    assert_true(box_shared_ranges(w, true, count_shared, &least));
    inside_bytes = 0;
    assert_true(box_global_ranges(w, count_global, NULL));
    assert_int_equal(inside_bytes, inside);
}

static void compare(const Case *c, const BoxWalk *w, int64_t bytes)
{
    assert_int_equal(w->box_bytes, bytes);
    forget();
    BoxPiece *p = malloc(w->npieces * sizeof *p);
    assert_non_null(p);
    box_pieces(w, p);
    for (uint64_t k = w->npieces; k-- > 0;) see(w, &p[k]);
    free(p);
    if (w->packs) { /* 12 of the 16 bytes of a unit have a place in global memory */
        for (int i = 0; i < REF_BYTES; i++)
            if (plan[i] == REF_GAP) seen[i] = REF_GAP;
    } else {
        assert_true(box_gaps(w, mark_gap, NULL));
    }
    assert_memory_equal(seen, plan, sizeof seen);
    for (uint32_t i = w->span_bytes; i < REF_BYTES; i++) assert_int_equal(plan[i], REF_UNTOUCHED);
    check_ranges(w);
    (void)c;
}

typedef struct Tally {
    uint32_t walked, trapped, open;
} Tally;

static void check(const Case *c, Tally *t)
{
    BoxWalk w;
    int rule = 0;
    RefCopy r = ref_words(&c->d, c->load, c->shared, c->start, c->offset);
    int64_t bytes = ref_copy(&r, plan);
    if (begin(&w, c, &rule)) {
        assert_true(bytes >= 0);
        compare(c, &w, bytes);
        t->walked++;
    } else if (bytes < 0) {
        assert_int_equal(rule, E1318);
        t->trapped++;
    } else {
        assert_int_equal(rule, E1352); /* what the text leaves open is not in the reference either */
        t->open++;
    }
}

/* ---- random copies ---- */

static void set_pitches(MapDesc *d, int bits, int64_t unit)
{
    int64_t reach = d->interleave ? d->dim[d->rank - 1] * unit : d->dim[d->rank - 1] * bits / 8;
    int64_t align = d->interleave == MAP_INTERLEAVE_32B || bits < 8 ? 32 : 16;
    for (int i = d->rank - 2; i >= 0; i--) {
        d->pitch[i] = (reach + align - 1) / align * align + align * (int64_t)below(3);
        reach = d->pitch[i] * d->dim[i];
    }
    d->address = 0x100000000000 + 64 * (int64_t)below(1000);
}

static int draw_type(MapDesc *d)
{
    static const int types[] = {MAP_U8, MAP_F16, MAP_BF16, MAP_F32, MAP_U16, MAP_F64};
    d->type = types[below(6)];
    return map_global_bits(d->type);
}

static int64_t inner_box(const MapDesc *d, int bits)
{
    int64_t span = swizzle_span(d->swizzle), most = span ? span / 16 : 16;
    int64_t n = 16 * (1 + (int64_t)below((uint32_t)most)) * 8 / bits;
    return n > 256 ? 256 : n;
}

static bool sound(Case *c)
{
    MapDesc d = c->d;
    d.is_load = c->load;
    d.is_store = !c->load;
    return map_check(&d, NULL, NULL) == 0;
}

static void draw_im2col(Case *c)
{
    static const int swizzles[] = {MAP_SWIZZLE_NONE, MAP_SWIZZLE_32B,           MAP_SWIZZLE_64B,
                                   MAP_SWIZZLE_128B, MAP_SWIZZLE_128B_ATOM_32B, MAP_SWIZZLE_128B_ATOM_64B};
    static const int64_t corner[] = {0, 0, 0, 40, 20, 6};
    MapDesc *d = &c->d;
    *c = (Case){.load = below(3) > 0, .d = {.mode = MAP_IM2COL, .sm = 100}};
    d->rank = 3 + (int)below(3);
    d->swizzle = swizzles[below(6)];
    if (below(4) == 0) {
        d->interleave = below(2) ? MAP_INTERLEAVE_16B : MAP_INTERLEAVE_32B;
        d->swizzle = d->interleave == MAP_INTERLEAVE_32B ? MAP_SWIZZLE_32B : MAP_SWIZZLE_NONE;
    }
    int bits = draw_type(d), first = d->interleave ? 2 : 1, spatial = d->rank - 2;
    int64_t slice = d->interleave == MAP_INTERLEAVE_32B ? 32 : 16;
    for (int i = 0; i < d->rank; i++) {
        d->dim[i] = between(1, 12);
        d->elem_stride[i] = below(3) ? 1 : between(1, 8);
    }
    if (!d->interleave) {
        d->dim[d->rank - 1] = c->load ? between(1, 80) : between(1, 10) * 128 / bits;
        d->elem_stride[d->rank - 1] = 1;
    }
    for (int i = 0; i < spatial; i++) {
        d->lower[i] = c->load ? between(-corner[d->rank], 4) : between(0, 3);
        d->upper[i] = c->load ? between(-4, corner[d->rank] - 1) : between(-3, 0);
    }
    d->channels = d->interleave ? slice * 8 / bits : inner_box(d, bits);
    d->pixels = between(1, below(4) ? 40 : 300);
    set_pitches(d, bits, slice);
    for (int i = 0; i < spatial; i++) { /* mostly inside the pixel box */
        int64_t low = d->lower[i], high = d->dim[first + i] - 1 + d->upper[i];
        int64_t at = high < low ? low : between(low, high);
        if (below(20) == 0) at += below(2) ? 20 : -20;
        if (!c->load && at < 0) at = 0;
        c->start[d->rank - 1 - (first + i)] = at;
    }
    if (d->interleave) c->start[d->rank - 2] = between(c->load ? -1 : 0, d->dim[1]);
    else c->start[0] = between(c->load ? -2 : 0, d->dim[d->rank - 1] * bits / 128 + 1) * 128 / bits;
    c->start[d->rank - 1] = between(c->load ? -1 : 0, d->dim[0]);
    c->ncoords = d->rank;
    if (!c->load) return;
    c->ninfo = spatial;
    for (int i = 0; i < spatial; i++) c->offset[i] = below(2) ? below(4) : below(32);
}

static void draw_wide(Case *c)
{
    static const int swizzles[] = {MAP_SWIZZLE_64B, MAP_SWIZZLE_128B, MAP_SWIZZLE_128B_ATOM_32B};
    MapDesc *d = &c->d;
    *c = (Case){.load = true, .d = {.mode = below(2) ? MAP_IM2COL_W : MAP_IM2COL_W128, .sm = 100}};
    d->rank = 3 + (int)below(3);
    d->swizzle = swizzles[below(3)];
    int bits = draw_type(d), inner = d->rank - 1;
    for (int i = 0; i < d->rank; i++) {
        d->dim[i] = between(1, 12);
        d->elem_stride[i] = below(3) ? 1 : between(1, 8);
    }
    d->elem_stride[inner] = 1;
    d->dim[inner] = between(1, 80);
    d->dim[inner - 1] = below(3) ? between(1, 30) : between(100, 600);
    d->lower[0] = between(-6, 3);
    d->upper[0] = between(-3, 6);
    d->channels = inner_box(d, bits);
    d->pixels = between(1, below(3) ? 40 : 128);
    set_pitches(d, bits, 16);
    for (int i = 1; i < d->rank; i++) c->start[i] = between(-1, d->dim[inner - i]);
    c->start[1] = between(d->lower[0] - 3, d->dim[inner - 1] + (below(8) ? d->upper[0] - 1 : 10));
    c->start[0] = between(-1, d->dim[inner] * bits / 128 + 1) * 128 / bits;
    c->ncoords = d->rank;
    c->ninfo = 2;
    c->offset[0] = below(2) ? 0 : below(8);
    c->offset[1] = below(2) ? 0 : below(32);
}

static void draw_rows4(Case *c)
{
    static const int swizzles[] = {MAP_SWIZZLE_NONE, MAP_SWIZZLE_32B,           MAP_SWIZZLE_64B,
                                   MAP_SWIZZLE_128B, MAP_SWIZZLE_128B_ATOM_32B, MAP_SWIZZLE_128B_ATOM_64B};
    MapDesc *d = &c->d;
    *c = (Case){.load = below(2), .d = {.rank = 2, .sm = 100, .elem_stride = {1, 1}}};
    d->mode = c->load ? MAP_GATHER4 : MAP_SCATTER4;
    d->swizzle = swizzles[below(6)];
    int bits = draw_type(d);
    d->box[0] = below(2) ? 1 : 4;
    d->box[1] = inner_box(d, bits);
    d->dim[0] = between(1, 40);
    d->dim[1] = c->load ? between(1, 100) : between(1, 20) * 128 / bits;
    set_pitches(d, bits, 16);
    c->start[0] = between(c->load ? -2 : 0, d->dim[1] * bits / 128 + 1) * 128 / bits;
    for (int i = 1; i < 5; i++) c->start[i] = between(0, d->dim[0] + 2);
    c->ncoords = 5;
}

static void draw_packed(Case *c)
{
    static const int types[] = {MAP_U4_ALIGN8, MAP_U4_ALIGN16, MAP_U6_ALIGN16};
    static const int swizzles[] = {MAP_SWIZZLE_NONE, MAP_SWIZZLE_128B, MAP_SWIZZLE_128B_ATOM_32B,
                                   MAP_SWIZZLE_128B_ATOM_64B, MAP_SWIZZLE_64B};
    MapDesc *d = &c->d;
    *c = (Case){.load = below(2), .d = {.sm = 100}};
    d->type = types[below(3)];
    d->swizzle = swizzles[below(5)];
    int bits = map_global_bits(d->type);
    bool gaps = d->type != MAP_U4_ALIGN8, columns = below(4) == 0;
    d->rank = columns ? 3 + (int)below(2) : 1 + (int)below(4);
    int inner = d->rank - 1;
    for (int i = 0; i < d->rank; i++) {
        d->dim[i] = between(1, 9);
        d->elem_stride[i] = i == inner || below(3) ? 1 : between(1, 3);
        d->box[i] = between(1, 6);
    }
    d->dim[inner] = gaps ? between(1, 4) * 128 : between(1, 100) * (c->load ? 2 : 32);
    d->box[inner] = d->channels = gaps ? 128 : between(1, swizzle_span(d->swizzle) == 64 ? 4 : 8) * 32;
    set_pitches(d, bits, 16);
    int64_t unit = gaps ? 128 : 32;
    c->start[0] = between(c->load ? -2 : 0, d->dim[inner] / unit + 1) * unit;
    c->ncoords = d->rank;
    if (columns) {
        d->mode = MAP_IM2COL;
        d->pixels = between(1, 40);
        for (int i = 1; i < d->rank; i++) c->start[i] = between(0, d->dim[inner - i] - 1);
        if (!c->load) return;
        c->ninfo = d->rank - 2;
        for (int i = 0; i < c->ninfo; i++) c->offset[i] = below(3);
        return;
    }
    for (int i = 1; i < d->rank; i++) c->start[i] = between(c->load ? -3 : 0, d->dim[inner - i]);
}

static void draw_atoms(Case *c)
{
    MapDesc *d = &c->d;
    *c = (Case){.load = below(2), .d = {.sm = 100, .rank = 1 + (int)below(4)}};
    d->swizzle = below(2) ? MAP_SWIZZLE_128B_ATOM_32B : MAP_SWIZZLE_128B_ATOM_64B;
    int bits = draw_type(d), inner = d->rank - 1;
    for (int i = 0; i < d->rank; i++) {
        d->dim[i] = between(1, 20);
        d->elem_stride[i] = i == inner || below(3) ? 1 : between(1, 3);
        d->box[i] = between(1, 6);
    }
    d->dim[inner] = c->load ? between(1, 100) : between(1, 20) * 128 / bits;
    d->box[inner] = inner_box(d, bits);
    set_pitches(d, bits, 16);
    c->start[0] = between(c->load ? -2 : 0, d->dim[inner] * bits / 128 + 1) * 128 / bits;
    for (int i = 1; i < d->rank; i++) c->start[i] = between(c->load ? -3 : 0, d->dim[inner - i]);
    c->ncoords = d->rank;
}

static Tally many(void (*draw)(Case *c), uint32_t rounds)
{
    Tally t = {0};
    for (uint32_t round = 1; round <= rounds; round++) {
        Case c;
        seed = round;
        below(10);
        do draw(&c);
        while (!sound(&c));
        c.shared = 1024 + 128 * below(64);
        check(&c, &t);
    }
    return t;
}

static void im2col_copies_walk_as_defined(void **state)
{
    (void)state;
    Tally t = many(draw_im2col, 1500);
    assert_true(t.walked > 1000 && t.trapped > 50 && t.open == 0);
}

static void wide_copies_walk_as_defined(void **state)
{
    (void)state;
    Tally t = many(draw_wide, 1000);
    assert_true(t.walked > 500 && t.trapped > 20 && t.open > 50);
}

static void gather4_and_scatter4_take_four_rows(void **state)
{
    (void)state;
    assert_int_equal(many(draw_rows4, 800).walked, 800);
}

static void packed_types_have_gaps(void **state)
{
    (void)state;
    assert_int_equal(many(draw_packed, 800).walked, 800);
}

static void larger_atoms_are_exchanged(void **state)
{
    (void)state;
    assert_int_equal(many(draw_atoms, 800).walked, 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(im2col_copies_walk_as_defined),       cmocka_unit_test(wide_copies_walk_as_defined),
        cmocka_unit_test(gather4_and_scatter4_take_four_rows), cmocka_unit_test(packed_types_have_gaps),
        cmocka_unit_test(larger_atoms_are_exchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
