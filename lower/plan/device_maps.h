/* Maps that the kernel makes: tensor copies through views that are made at run time. */
#ifndef LOWER_PLAN_DEVICE_MAPS_H
#define LOWER_PLAN_DEVICE_MAPS_H

#include "lower/algebra/domain/domain.h"
#include "lower/kernel/kernel.h"
#include "lower/kernel/report.h"
#include "lower/plan/move.h"

typedef struct DeviceMap { /* copies of a map that a role makes anew for each run of a view's declaration, one per slot of a tile */
    uint32_t map;              /* MfMap: box and layout */
    const PTensor *view;
    uint32_t tile, agent;      /* whose ring has the slots; which role */
    const char *source;        /* the role of the source, in which .. */
    const PStmt *move;         /* .. it alone copies by them; NULL: of a derived agent */
    uint32_t buf, cell, fresh; /* IrBuf of maps, IrBuf where they are made, IrVar: slots that need not be made */
    bool made, begun;          /* in the walk: its values are there; the turn of the ring has begun */
    Opnd from, dim[P_RANK], pitch[P_RANK];
} DeviceMap;

struct DeviceMaps {
    VEC(DeviceMap) maps;
    bool roles; /* of the source: the warp of one may make maps */
    VEC(struct Declared { const PTensor *view; uint32_t depth; Span span; }) views; /* made at run time: blocks around it that are turns */
};

bool device_allowed(Lower *L, const MoveInfo *mi, Refusal *why);
/* The place of such a view is a multiple of 16 bytes: proved, or a launch check. */
bool device_aligned(Lower *L, const MoveInfo *mi, ErrorCode code, Refusal *why);
bool device_same_team(Lower *L, const MoveInfo *mi, Refusal *why); /* a multicast: one view for all CTAs of the cluster */
void device_template(Lower *L, const PTensor *t, const MapDesc *d, MfMap *m); /* a map that can be encoded at launch */
Poly device_extent(Lower *L, const PTensor *t, int d); /* no less than any extent that it may have */
Opnd device_some(Lower *L, const PTensor *t);          /* a pred: the view has elements */
void device_values(Lower *L, DeviceMap *m); /* what the maps are made of, where the view is declared */
void device_make(Lower *L, const DeviceMap *m, Opnd slot);
uint32_t device_buffer(Lower *L, const char *of, const DeviceMap *m, uint32_t slots); /* of maps; m: NULL: a cell where they are made */
void device_place(Lower *L); /* the room for all of them */

#endif
