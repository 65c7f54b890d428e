/* Which schedules to try besides those that were listed, which differ from the compiler's choice in one thing. The model: dealing, depth, hints and L2 promotion gain
 * independently of each other, so that two changes gain the product of what each gains. What would beat all that was measured at some size, by
 * more than times scatter, is tried. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"
#include "tilecc/tune/tune.h"

enum { WAYS = 4 };
static const char *const WORDS[WAYS] = {"by", "stages", "hints", "l2"}; /* in the order in which schedules are written */
static const double GAIN = 0.99;

typedef struct Part {
    const char *text; /* NULL: not said */
    size_t n;
} Part;
typedef struct Parts {
    Part values, way[WAYS];
    size_t ways;
} Parts;

static size_t way_of(const char *word, size_t n)
{
    size_t i = 0;
    while (i < WAYS && (strlen(WORDS[i]) != n || memcmp(WORDS[i], word, n) != 0)) i++;
    return i;
}

/* "BM=64 by ticket": values first, each of the rest a word and another one. */
static Parts take_apart(const char *schedule)
{
    Parts out = {.values = {schedule, 0}};
    for (const char *p = schedule; *p;) {
        size_t word = strcspn(p, " "), i = way_of(p, word);
        const char *end = p + word;
        if (i < WAYS) {
            end += strspn(end, " ");
            end += strcspn(end, " ");
            out.way[i] = (Part){p, (size_t)(end - p)};
            out.ways++;
        } else if (strncmp(p, "default", word) != 0) out.values.n = (size_t)(end - schedule);
        p = end + strspn(end, " ");
    }
    return out;
}

static bool same_part(Part a, Part b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.text, b.text, a.n) == 0);
}

/* A CTA that has one iteration has no depth. */
static bool one_iteration(Part deal)
{
    return deal.n == sizeof "by launch" - 1 && memcmp(deal.text, "by launch", deal.n) == 0;
}

/* Of the changes of a base each way's best at a point, and what they would come to. 0: they are not two. */
static double foretell(const Candidate *v, const Parts *parts, size_t n, size_t base, size_t point, Parts *all)
{
    double alone = v[base].ms[point], ratio[WAYS], product = alone;
    size_t ways = 0;
    *all = (Parts){.values = parts[base].values};
    for (size_t w = 0; w < WAYS; w++) {
        ratio[w] = GAIN;
        for (size_t c = 1; c < n; c++) {
            bool one = parts[c].ways == 1 && parts[c].way[w].text && same_part(parts[c].values, parts[base].values);
            if (!one || v[c].ms[point] <= 0 || v[c].ms[point] >= alone * ratio[w]) continue;
            if (w == 1 && all->way[0].text && one_iteration(all->way[0])) continue;
            ratio[w] = v[c].ms[point] / alone;
            all->way[w] = parts[c].way[w];
        }
        if (!all->way[w].text) continue;
        product *= ratio[w];
        ways++;
    }
    return ways > 1 ? product : 0;
}

static char *put_together(const Parts *all)
{
    size_t room = all->values.n + 1, n = 0;
    for (size_t w = 0; w < WAYS; w++) room += all->way[w].n + 1;
    char *out = must_alloc(room);
    n = (size_t)snprintf(out, room, "%.*s", (int)all->values.n, all->values.text);
    for (size_t w = 0; w < WAYS; w++)
        if (all->way[w].text) n += (size_t)snprintf(out + n, room - n, "%s%.*s", n ? " " : "", (int)all->way[w].n, all->way[w].text);
    return out;
}

size_t tune_combine(const Candidate *v, size_t n, size_t npoints, char *out[TUNE_COMBINATIONS])
{
    Parts parts[TUNE_CANDIDATES];
    size_t found = 0;
    for (size_t c = 1; c < n; c++) parts[c] = take_apart(v[c].schedule);
    for (size_t p = 0; p < npoints; p++) {
        Parts all, best = {.ways = 0};
        double least = 0, foretold;
        for (size_t c = 1; c < n; c++)
            if (v[c].ms[p] > 0 && (least == 0 || v[c].ms[p] < least)) least = v[c].ms[p];
        least *= GAIN;
        for (size_t c = 1; c < n; c++) {
            if (parts[c].ways || v[c].ms[p] <= 0 || (foretold = foretell(v, parts, n, c, p, &all)) <= 0 || foretold >= least) continue;
            least = foretold;
            best = all;
        }
        if (!best.values.text || found == TUNE_COMBINATIONS) continue;
        char *text = put_together(&best);
        bool known = false;
        for (size_t c = 1; c < n; c++) known |= strcmp(v[c].schedule, text) == 0;
        for (size_t i = 0; i < found; i++) known |= strcmp(out[i], text) == 0;
        if (known) free(text);
        else out[found++] = text;
    }
    return found;
}
