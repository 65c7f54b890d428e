/* Few schedules for ranges of sizes: dynamic programming over the points, where a change and a schedule that the program does not have yet cost
 * as much as a small part of the time. Times scatter by a percent or two, so less would be noise. */
#include <math.h>
#include <string.h>

#include "tilecc/tune/tune.h"

static double best_at(const Candidate *v, size_t n, size_t p)
{
    double best = 0;
    for (size_t c = 1; c < n; c++)
        if (v[c].ms[p] > 0 && (best == 0 || v[c].ms[p] < best)) best = v[c].ms[p];
    return best;
}

/* What it loses there: 0.05 for 5 %. */
static double loss(const Candidate *v, size_t c, size_t p, double best)
{
    if (best == 0) return 0; /* nothing runs there */
    return v[c].ms[p] > 0 ? log(v[c].ms[p] / best) + (v[c].plain ? 0 : 0.005) : HUGE_VAL;
}

/* The candidate of each point; changes cost `change`. Returns how many different ones. */
static size_t assign(const Candidate *v, size_t n, size_t npoints, double change, size_t *of)
{
    static const double MANY = 1e30;
    double cost[TUNE_CANDIDATES] = {0};
    size_t from[TUNE_POINTS][TUNE_CANDIDATES], different = 0;
    for (size_t p = 0; p < npoints; p++) {
        double best = best_at(v, n, p), least = MANY;
        size_t cheapest = 1;
        for (size_t c = 1; c < n; c++)
            if (cost[c] < least) least = cost[c], cheapest = c;
        for (size_t c = 1; c < n; c++) {
            bool stays = p == 0 || cost[c] <= least + change;
            double l = loss(v, c, p, best);
            from[p][c] = stays ? c : cheapest;
            cost[c] = (stays ? cost[c] : least + change) + (l < MANY ? l : MANY);
        }
    }
    size_t last = 1;
    for (size_t c = 1; c < n; c++)
        if (cost[c] < cost[last]) last = c;
    for (size_t p = npoints; p-- > 0; last = from[p][last]) of[p] = last;
    for (size_t p = 0; p < npoints; p++) {
        size_t before = 0;
        while (before < p && of[before] != of[p]) before++;
        different += before == p;
    }
    return different;
}

/* Between two points in the middle, as bytes of the schedule that is taken from there on. */
static int64_t threshold(const Candidate *c, size_t point)
{
    double a = c->bytes[point - 1], b = c->bytes[point];
    return (int64_t)(a > 0 && a < b ? sqrt(a * b) : b);
}

bool tune_choose(const Candidate *v, size_t n, size_t npoints, Choices *out)
{
    size_t of[TUNE_POINTS];
    bool any = false;
    for (size_t p = 0; p < npoints; p++) any |= best_at(v, n, p) > 0;
    *out = (Choices){.n = 0};
    if (!any) return false;
    for (double change = 0.02; assign(v, n, npoints, change, of) > TUNE_SCHEDULES && change < 100;) change *= 2;
    for (size_t p = 0; p < npoints; p++) {
        if (p > 0 && of[p] == of[p - 1]) continue;
        out->v[out->n++] = (Choice){of[p], p, p ? threshold(&v[of[p]], p) : 0};
    }
    return true;
}

bool tune_wins(const Candidate *v, const double *scatter, size_t npoints, const Choices *c)
{
    double all = 0;
    for (size_t p = 0, i = 0; p < npoints; p++) {
        while (i + 1 < c->n && c->v[i + 1].point <= p) i++;
        double before = v[0].ms[p], now = v[c->v[i].candidate].ms[p], least = 2 * scatter[p] < 0.02 ? 0.02 : 2 * scatter[p];
        if (before <= 0 || now <= 0) continue;
        double gain = log(before / now);
        if (fabs(gain) > least) all += gain;
    }
    return all > 0;
}
