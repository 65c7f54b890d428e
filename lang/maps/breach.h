/* What the rules of descriptors (rules.c) and of copies (copy.c) report with; private to them. */
#ifndef LANG_MAP_BREACH_H
#define LANG_MAP_BREACH_H

#include "lang/maps/rules.h"

typedef struct MapCheck {
    const MapDesc *d;
    void (*report)(void *user, const MapBreach *b);
    void *user;
    int breaches;
    int inner; /* index of the innermost dimension */
} MapCheck;

#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
void map_breach(MapCheck *c, ErrorCode code, const char *rule_id, MapField field, int index, const char *fmt, ...);

static inline bool map_known(int64_t v) { return v != MAP_UNKNOWN; }
static inline bool map_outside(int64_t v, int64_t lo, int64_t hi) { return map_known(v) && (v < lo || v > hi); }

#endif
