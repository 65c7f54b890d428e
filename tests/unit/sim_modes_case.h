/* One tensor copy, of which the tests of modes ask what box_begin says. */
#ifndef TESTS_SIM_MODES_CASE_H
#define TESTS_SIM_MODES_CASE_H

#include "runtime/sim/copies/maps.h"

typedef struct Case {
    MapDesc d;
    bool load;
    uint32_t shared;
    int64_t start[5], offset[3];
    int ncoords, ninfo;
} Case;

static bool begin(BoxWalk *w, const Case *c, int *rule)
{
    char text[400] = "";
    return box_begin(w, &c->d, c->load, false, c->shared, c->start, c->ncoords, c->offset, c->ninfo, rule, text,
                     sizeof text);
}

#endif
