/* What stands behind "sim:" in a device's name: "fast", "check", "fuzz", and NAME=VALUE, separated by commas. */
#ifndef SIM_DEVICE_OPTIONS_H
#define SIM_DEVICE_OPTIONS_H

#include "lang/lang.h"
#include "runtime/host.h"
#include "runtime/sim/machine.h"
#include "tile.h"

typedef struct DeviceWords {
    SimOptions options;
    const TargetInfo *target;
    int sms;
    int64_t l2; /* bytes */
} DeviceWords;
/* words may be NULL or "". *trace is of the host's memory, or NULL. */
tile_status sim_read_options(const char *words, const Host *host, DeviceWords *out, char **trace, tile_error *err);

#endif
