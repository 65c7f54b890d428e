/* Tensor maps that a kernel changes. Instructions; false: a finding was filed. */
#ifndef SIM_MAP_CHANGE_H
#define SIM_MAP_CHANGE_H

#include "runtime/sim/machine.h"

bool sim_map_change(SimMachine *m, SimThread *t, const FormOp *f); /* tensormap.replace */
/* tensormap.cp_fenceproxy, by the n lanes of a warp that have met, each with its own instruction. */
bool sim_map_publish(SimMachine *m, SimThread *const *lane, const FormOp *const *form, uint32_t n);
bool sim_map_fence(SimMachine *m, SimThread *t, const FormOp *f); /* fence.proxy.tensormap::generic */

#endif
