/* Time against bytes, both on logarithmic axes: every schedule thin, what was chosen thick, the driver's copy beside them. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tilecc/cli.h"
#include "tilecc/tune/tune.h"

enum { WIDTH = 860, HEIGHT = 560, LEFT = 80, RIGHT = 30, TOP = 50, BOTTOM = 60, LEGEND = 18 };
static const char *const COLOURS[] = {"#0b62a4", "#c2410c", "#15803d", "#7e22ce"};

typedef struct Plot {
    char *s;
    size_t n, cap;
    double x0, x1, y0, y1; /* log2 of bytes, log10 of microseconds, at the edges */
} Plot;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void put(Plot *p, const char *fmt, ...)
{
    enum { ROOM = 1024 };
    va_list ap;
    if (p->cap - p->n < ROOM) {
        char *more = must_alloc(p->cap = p->cap * 2 + 2 * ROOM);
        if (p->s) memcpy(more, p->s, p->n);
        free(p->s);
        p->s = more;
    }
    va_start(ap, fmt);
    int n = vsnprintf(p->s + p->n, ROOM, fmt, ap);
    va_end(ap);
    p->n += n < 0 ? 0 : n < ROOM ? (size_t)n : ROOM - 1;
}

/* Text of an element; the device's name may have anything in it. */
static void put_text(Plot *p, const char *text)
{
    for (; *text; text++) {
        if (*text == '<') put(p, "&lt;");
        else if (*text == '&') put(p, "&amp;");
        else put(p, "%c", *text);
    }
}

static double at_x(const Plot *p, double bytes)
{
    return LEFT + (log2(bytes) - p->x0) / (p->x1 - p->x0) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const Plot *p, double us)
{
    return HEIGHT - BOTTOM - (log10(us) - p->y0) / (p->y1 - p->y0) * (HEIGHT - TOP - BOTTOM);
}

/* The bytes of a point are those of the program as it is: schedules with other tiles count a little more or less. */
static double bytes_of(const Tune *t, size_t point)
{
    return t->v[0].bytes[point];
}

static void find_edges(Plot *p, const Tune *t)
{
    double lo = HUGE_VAL, hi = 0, least = HUGE_VAL, most = 0;
    for (size_t i = 0; i < t->sizes.npoints; i++) {
        double b = bytes_of(t, i);
        if (b > 0 && b < lo) lo = b;
        if (b > hi) hi = b;
        for (size_t c = 0; c < t->n; c++) {
            double us = t->v[c].ms[i] * 1e3;
            if (us > 0 && us < least) least = us;
            if (us > most) most = us;
        }
    }
    p->x0 = floor(log2(lo)), p->x1 = ceil(log2(hi));
    p->y0 = floor(log10(least)), p->y1 = ceil(log10(most));
    if (p->x1 <= p->x0) p->x1 = p->x0 + 1;
    if (p->y1 <= p->y0) p->y1 = p->y0 + 1;
}

static const char *short_bytes(double b, char *buf, size_t room)
{
    static const char *const UNITS[] = {"B", "KB", "MB", "GB", "TB"};
    int u = 0;
    for (; b >= 1024 && u < 4; u++) b /= 1024;
    snprintf(buf, room, "%.4g %s", b, UNITS[u]);
    return buf;
}

static void axes(Plot *p, const Tune *t)
{
    char text[32];
    put(p, "<g stroke=\"#ddd\" stroke-width=\"1\">\n");
    for (double x = p->x0; x <= p->x1; x += 2)
        put(p, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n", at_x(p, exp2(x)), TOP, at_x(p, exp2(x)), HEIGHT - BOTTOM);
    for (double y = p->y0; y <= p->y1; y++)
        put(p, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", LEFT, at_y(p, pow(10, y)), WIDTH - RIGHT, at_y(p, pow(10, y)));
    put(p, "</g>\n<g fill=\"#333\" text-anchor=\"middle\">\n");
    for (double x = p->x0; x <= p->x1; x += 2)
        put(p, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", at_x(p, exp2(x)), HEIGHT - BOTTOM + 18, short_bytes(exp2(x), text, sizeof text));
    put(p, "<text x=\"%d\" y=\"%d\">bytes that a launch moves</text>\n</g>\n<g fill=\"#333\" text-anchor=\"end\">\n", WIDTH / 2, HEIGHT - 14);
    for (double y = p->y0; y <= p->y1; y++) put(p, "<text x=\"%d\" y=\"%.1f\">%.4g</text>\n", LEFT - 8, at_y(p, pow(10, y)) + 4, pow(10, y));
    put(p, "</g>\n<text x=\"18\" y=\"%d\" fill=\"#333\" text-anchor=\"middle\" transform=\"rotate(-90 18 %d)\">%s</text>\n", HEIGHT / 2, HEIGHT / 2,
        t->simulated ? "thousands of simulated steps" : "microseconds");
}

static void line(Plot *p, const Tune *t, size_t c, size_t from, size_t to, const char *style)
{
    put(p, "<polyline fill=\"none\" %s points=\"", style);
    for (size_t i = from; i < to; i++)
        if (t->v[c].ms[i] > 0) put(p, "%.1f,%.1f ", at_x(p, bytes_of(t, i)), at_y(p, t->v[c].ms[i] * 1e3));
    put(p, "\"/>\n");
}

/* bytes / bandwidth, as far as it lies within the edges. */
static void copy_line(Plot *p, const Tune *t)
{
    double lo = fmax(exp2(p->x0), pow(10, p->y0) * 1e-3 * t->copy), hi = fmin(exp2(p->x1), pow(10, p->y1) * 1e-3 * t->copy);
    if (t->copy == 0 || lo >= hi) return;
    put(p, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#111\" stroke-width=\"1.5\" stroke-dasharray=\"2 3\"/>\n", at_x(p, lo),
        at_y(p, lo / t->copy * 1e3), at_x(p, hi), at_y(p, hi / t->copy * 1e3));
}

static void legend(Plot *p, int *row, const char *style, const char *text)
{
    int y = TOP + 14 + LEGEND * (*row)++;
    put(p, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" %s/>\n<text x=\"%d\" y=\"%d\" fill=\"#333\">", LEFT + 12, y - 4, LEFT + 44, y - 4, style, LEFT + 52, y);
    put_text(p, text);
    put(p, "</text>\n");
}

static void chosen(Plot *p, const Tune *t, const Choices *c, int *row)
{
    size_t colours[TUNE_CANDIDATES] = {0}, used = 0;
    for (size_t i = 0; i < c->n; i++) {
        size_t k = c->v[i].candidate, to = i + 1 < c->n ? c->v[i + 1].point + 1 : t->sizes.npoints;
        char style[96];
        bool known = colours[k] != 0;
        if (!known) colours[k] = ++used;
        snprintf(style, sizeof style, "stroke=\"%s\" stroke-width=\"3\"", COLOURS[(colours[k] - 1) % 4]);
        line(p, t, k, c->v[i].point, to < t->sizes.npoints ? to : t->sizes.npoints, style);
        if (!known) legend(p, row, style, t->v[k].schedule);
    }
}

char *tune_plot(const Tune *t, const Choices *c)
{
    static const char THIN[] = "stroke=\"#bbb\" stroke-width=\"1\"", DASHED[] = "stroke=\"#555\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"";
    Plot p = {0};
    int row = 0;
    find_edges(&p, t);
    put(&p, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">\n", WIDTH, HEIGHT);
    put(&p, "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"28\" font-size=\"16\" fill=\"#111\">", WIDTH, HEIGHT, LEFT);
    put_text(&p, t->program.kernel);
    put(&p, " on ");
    put_text(&p, tile_device_gpu(t->device));
    put(&p, "</text>\n");
    axes(&p, t);
    for (size_t i = 1; i < t->n; i++) line(&p, t, i, 0, t->sizes.npoints, THIN);
    line(&p, t, 0, 0, t->sizes.npoints, DASHED);
    copy_line(&p, t);
    chosen(&p, t, c, &row);
    legend(&p, &row, DASHED, "without a tune file");
    legend(&p, &row, THIN, "all other schedules");
    if (t->copy > 0) legend(&p, &row, "stroke=\"#111\" stroke-width=\"1.5\" stroke-dasharray=\"2 3\"", "the driver's copy: bytes by its bandwidth");
    put(&p, "</svg>\n");
    return p.s;
}
