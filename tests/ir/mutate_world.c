#include "tests/ir/mutate_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Small tiles and few iterations, on a machine of few SMs: every ring goes round more than twice in the last run, and
 * there is one that does not fill it. */
const Program PROGRAMS[] = {
    {"ir/ring.ir", NULL, {NULL}, {NULL}, NULL},
    {"ir/work.ir", NULL, {NULL}, {NULL}, NULL},
    {"ir/lanes.ir", NULL, {NULL}, {NULL}, NULL},
    {"ir/multicast.ir", NULL, {NULL}, {NULL}, NULL},
    {"ir/dsmem.ir", NULL, {NULL}, {NULL}, NULL},
    {"ir/peer.ir", NULL, {NULL}, {NULL}, NULL},
    {"ir/reduce.ir", NULL, {NULL}, {NULL}, NULL},
    {"../examples/copy.tile", "copy", {"BM=8", "BN=64"}, {"M=8 N=64", "M=33 N=136", "M=64 N=256"}, NULL},
    {"../examples/copy_bulk.tile", "copy_bulk", {"CHUNK=1024"}, {"L=1024", "L=5008", "L=40976"}, NULL},
    {"../examples/copy_explicit.tile", "copy", {NULL}, {"M=70 N=264"}, NULL},
    {"../examples/gather_rows.tile", "gather_rows", {"D=64"}, {"V=30 R=1", "V=30 R=300", "V=30 R=3000"}, NULL},
    {"../examples/scatter_add.tile", "scatter_add", {"D=64"}, {"V=30 R=1", "V=30 R=150", "V=30 R=2500"}, NULL},
    {"../examples/moe.tile", "permute", {"D=64"}, {"T=30 R=4", "T=30 R=63", "T=30 R=3000"}, NULL},
    {"../examples/moe.tile", "combine", {"D=2048"}, {"R=1 T=20", "R=14 T=20"}, NULL},
    {"../examples/permute_heads.tile", "permute_heads", {"D=16"}, {"B=1 S=20 H=1", "B=2 S=70 H=5"}, NULL},
    {"../examples/split_k_sum.tile", "split_k_sum", {NULL}, {"S=1 M=32 N=64", "S=7 M=40 N=72"}, NULL},
    {"../examples/halo.tile", "halo", {"BH=8", "BW=16"}, {"H=8 W=16 TY=1 TX=1", "H=30 W=60 TY=4 TX=4"}, NULL},
    {"../examples/transpose.tile", "transpose", {"B=64"}, {"M=64 N=64", "M=136 N=320"}, NULL},
    {"../examples/convert.tile", "widen", {NULL}, {"M=64 N=64", "M=130 N=264"}, NULL},
    {"../examples/broadcast.tile", "broadcast", {NULL}, {"R=4 M=64 N=64", "R=8 M=40 N=72"}, NULL},
    {"../examples/ring.tile", "ring", {NULL}, {"L=1024", "L=1500"}, NULL},
    {"../examples/gemm_io.tile",
     "gemm_io",
     {"BM=16", "BN=16", "BK=64"},
     {"M=32 N=32 K=64 TN=2 TM=2", "M=32 N=32 K=640 TN=2 TM=2", "M=64 N=96 K=192 TN=6 TM=4"},
     NULL},
    {"../examples/prefetch.tile", "stream", {NULL}, {"M=64 N=128", "M=128 N=640"}, NULL},
    {"../examples/hand_ring.tile", "hand_ring", {NULL}, {"M=64 N=256", "M=250 N=256", "M=640 N=256"}, NULL},
    {"../examples/hand_ring.tile", "one_thread_ring", {NULL}, {"M=64 N=256", "M=250 N=256", "M=640 N=256"}, NULL},
    {"ir/programs/flat.tile", NULL, {NULL}, {"M=4", "M=300"}, NULL},
    {"ir/programs/nested.tile", NULL, {NULL}, {"B=1 M=8", "B=4 M=20", "B=13 M=60", "B=50 M=8"}, NULL},
    {"ir/programs/cast_threads.tile", NULL, {NULL}, {"M=64 N=64", "M=200 N=264"}, NULL},
    {"ir/programs/peer_pipe.tile", NULL, {NULL}, {"L=64", "L=320", "L=1600"}, NULL},
    {"ir/programs/guarded.tile", NULL, {NULL}, {"M=8", "M=70", "M=300"}, NULL},
    {"ir/programs/filled.tile", NULL, {NULL}, {"M=16", "M=50", "M=250"}, NULL},
    {"ir/programs/by_launch.tile", NULL, {NULL}, {"M=30"}, NULL},
    {"golden/pipeline/clc.tile", "alone", {NULL}, {"M=16 N=64", "M=70 N=208", "M=300 N=320"}, NULL},
    {"golden/pipeline/clc.tile", "together", {NULL}, {"M=16 N=64", "M=70 N=208", "M=300 N=320"}, NULL},
    {"golden/pipeline/clc.tile", "by_threads", {NULL}, {"M=64", "M=600"}, NULL},
    {"golden/pipeline/clc_in_place.tile", "in_place", {NULL}, {"M=8 N=32", "M=40 N=200", "M=100 N=328"}, NULL},
    {"golden/pipeline/clc_in_place.tile", "pairs_in_place", {NULL}, {"M=8 N=32", "M=40 N=200", "M=100 N=328"}, NULL},
    {"golden/pipeline/stored_in_turns.tile", "causal", {NULL}, {"M=4 C=128", "M=30 C=960"}, NULL},
    {"golden/pipeline/stored_in_turns.tile", "seldom", {NULL}, {"M=4 C=128", "M=30 C=960"}, NULL},
    {"golden/kept/stored_and_loaded.tile", "second", {NULL}, {"M=16", "M=100"}, NULL},
    {"golden/kept/stored_and_loaded.tile", "one_turn", {NULL}, {"M=16", "M=300"}, NULL},
    {"golden/kept/stored_and_loaded.tile", "next_turn", {NULL}, {"M=8", "M=50"}, NULL},
    {"golden/pipeline/sliding.tile", "sliding", {NULL}, {"N=64", "N=580"}, NULL},
    {"golden/rows/in_place.tile", "bump", {NULL}, {"M=20 R=6", "M=60 R=70", "M=60 R=150"}, NULL},
    {"golden/rows/in_place.tile", "dealt", {NULL}, {"M=20 R=6", "M=60 R=70", "M=60 R=150"}, NULL},
    {"golden/rows/in_place.tile", "pairs", {NULL}, {"M=20 R=6", "M=60 R=70", "M=60 R=150"}, NULL},
    {"golden/device/in_place.tile", "dealt", {NULL}, {"T=20 G1=1", "T=60 G1=3", "T=150 G1=9"}, NULL},
    {"golden/device/in_place.tile", "window", {NULL}, {"T=20", "T=60"}, NULL},
    {"golden/movement/bulk_cut_rows.tile", "across", {NULL}, {"M=16 N=8", "M=10 N=200"}, NULL},
    {"golden/movement/bulk_cut_rows.tile", "part", {NULL}, {"M=16 N=8", "M=10 N=100"}, NULL},
    {"golden/cluster/by_rank.tile", "swap", {NULL}, {"L=64", "L=1400", "L=3000"}, NULL},
    {"golden/cluster/by_rank.tile", "halves", {NULL}, {"M=16", "M=70", "M=300"}, NULL},
    {"golden/cluster/by_rank.tile", "gathered", {NULL}, {"M=16", "M=150", "M=300"}, NULL},
    {"golden/cluster/own_turns.tile", "counted", {NULL}, {"R=16", "R=70", "R=100"}, NULL},
    {"golden/cluster/own_turns.tile", "sent", {NULL}, {NULL}, NULL},
    {"golden/cluster/rank_sends.tile", "collect", {NULL}, {"L=64", "L=1400", "L=3000"}, NULL},
    {"golden/cluster/rank_sums.tile", "sums", {NULL}, {"L=64 n=0", "L=1400 n=1", "L=3000 n=3"}, NULL},
    {"golden/pipeline/counted_by_data.tile", "parts", {NULL}, {"R=1 M=16 P=16", "R=40 M=16 P=640"}, NULL},
    {"golden/cluster/tickets.tile", "one", {NULL}, {"M=64 N=64", "M=300 N=520"}, NULL},
    {"golden/cluster/tickets.tile", "lanes", {NULL}, {"M=16 N=64", "M=300 N=320"}, NULL},
    {"golden/cluster/tickets_threads.tile", "by_threads", {NULL}, {"M=64", "M=600"}, NULL},
    {"golden/cluster/peer_phases.tile", "pass_on", {NULL}, {"N=8", "N=40", "N=72"}, NULL},
    {"golden/cluster/peer_fills.tile", "spread", {NULL}, {"N=192 v=5", "N=576 v=5"}, NULL},
    {"golden/cluster/peer_fills.tile", "sums", {NULL}, {"N=192 v=5", "N=384 v=5"}, NULL},
    {"golden/cluster/peer_fills.tile", "by_hand", {NULL}, {"v=5"}, NULL},
    {"golden/cluster/peer_fills.tile", "ring_by_hand", {NULL}, {"N=1 n=1", "N=3 n=3", "N=9 n=8"}, NULL},
    {"golden/fill/zeros.tile", "border", {NULL}, {"N=32", "N=3000"}, NULL},
    {"golden/fill/zeros.tile", "by_hand", {NULL}, {""}, NULL},
    {"golden/layouts/interleave.tile", "copy8", {NULL}, {"N=1 C8=1 H=4 W=16", "N=2 C8=3 H=9 W=40"}, NULL},
    {"../examples/im2col.tile", "im2col3x3", {NULL}, {"N=1 H=4 W=8 C=64 NPQ=32 K=576", "N=3 H=9 W=15 C=64 NPQ=405 K=576"}, NULL},
    {"../examples/im2col_store.tile", "col_store", {NULL}, {"N=1 P=4 Q=8 NPQ=32", "N=3 P=9 Q=15 NPQ=405", "N=9 P=9 Q=15 NPQ=1215"}, NULL},
    {"../examples/gather4.tile", "gather4", {"D=64"}, {"V=30 R=40", "V=30 R=300", "V=30 R=1500"}, NULL},
    {"../examples/tcgen.tile", NULL, {NULL}, {""}, NULL},
    {"../examples/cp_mask.tile", NULL, {NULL}, {"L=1024", "L=5008", "L=40976"}, NULL},
    {"golden/modes/im2col_5d.tile", "taps", {NULL}, {"N=1 D=2 H=3 W=4 C=32 NDHW=24", "N=3 D=2 H=3 W=4 C=40 NDHW=72"}, NULL},
    {"golden/modes/im2col_add.tile", "add", {NULL}, {"N=1 P=4 Q=8 C=32 NPQ=32", "N=3 P=9 Q=15 C=32 NPQ=405"}, NULL},
    {"golden/modes/multicast.tile", "taps", {NULL}, {"N=1 H=4 W=8 NPQ=32", "N=3 H=9 W=15 NPQ=405", "N=9 H=9 W=15 NPQ=1215"}, NULL},
    {"golden/modes/w_rows.tile", "rows", {NULL}, {"N=2 H=3 W=140 NH=6"}, NULL},
    {"golden/modes/gather4.tile", "many", {NULL}, {"V=30 C=64 R=40", "V=30 C=64 R=300"}, NULL},
    {"golden/modes/gather4.tile", "shared_rows", {NULL}, {"V=30 R=40", "V=30 R=300", "V=30 R=1500"}, NULL},
    {"golden/modes/scatter4.tile", "scatter", {NULL}, {"V=1020 R=40", "V=1020 R=300"}, NULL},
    {"golden/modes/prefetch.tile", "taps", {NULL}, {"N=1 H=4 W=8 NPQ=32", "N=3 H=9 W=15 NPQ=405"}, NULL},
    {"golden/modes/version_80.tile", "version_80", {NULL}, {"N=1 H=4 W=8 NPQ=32", "N=3 H=9 W=15 NPQ=405"}, NULL},
    {"golden/modes/prefetches.tile", "ahead", {NULL}, {"N=2 H=3 W=130 V=30 R=8"}, NULL},
    {"golden/modes/w_halo.tile", "rows3", {NULL}, {"N=2 W=8 C=64"}, NULL},
    {"golden/modes/im2col_base.tile", "corner", {NULL}, {"N=1 H=9 W=8 R=3"}, NULL},
    {"golden/modes/im2col_3d.tile", "rows", {NULL}, {"N=2 W=8 C=32 NQ=8 first=1", "N=9 W=40 C=64 NQ=180 first=2"}, NULL},
    {"golden/modes/im2col_crop.tile", "inner", {NULL}, {"N=1 H=4 W=6 NPQ=8", "N=3 H=9 W=15 NPQ=273"}, NULL},
    {"golden/run/im2col.tile", "line", {NULL}, {"N=1 W=8 C=64 NQ=8 K=192 q=8", "N=9 W=20 C=64 NQ=180 K=192 q=20"}, NULL},
    {"golden/run/im2col.tile",
     "plane",
     {"R=2", "S=2"},
     {"N=1 H=4 W=5 C=64 NPQ=30 K=256 p=5 q=6", "N=3 H=6 W=8 C=64 NPQ=189 K=256 p=7 q=9"},
     NULL},
    {"golden/run/im2col.tile",
     "space",
     {"T=1", "R=2", "S=2", "PD=0"},
     {"N=1 D=2 H=3 W=4 C=64 NOPQ=40 K=256 o=2 p=4 q=5"},
     NULL},
    {"golden/modes/pair.tile", "pair", {NULL}, {"M=64", "M=300"}, NULL},
    {"golden/modes/pair.tile", "four", {NULL}, {"M=64"}, NULL},
    {"golden/modes/pair_ring.tile", "pair_ring", {NULL}, {"n=1 M=128", "n=4 M=512", "n=11 M=1408"}, NULL},
    {"golden/modes/peers.tile", "on_pair", {NULL}, {"N=1 H=1 W=200 V=30 R=64"}, NULL},
    {"golden/modes/peers.tile", "to_peer", {NULL}, {"N=1 H=1 W=200 V=30 R=64"}, NULL},
    {"../examples/scales_tmem.tile", NULL, {NULL}, {""}, NULL},
    {"golden/tmem/pipeline.tile", NULL, {NULL}, {"M=128", "M=700"}, NULL},
    {"golden/tmem/roles.tile", NULL, {NULL}, {"M=128", "M=700"}, NULL},
    {"golden/tmem/shift.tile", NULL, {NULL}, {""}, NULL},
    {"golden/tmem/shift_along.tile", NULL, {NULL}, {""}, NULL},
    {"golden/tmem/slices.tile", "by_16", {NULL}, {""}, NULL},
    {"golden/tmem/slices.tile", "panels", {NULL}, {""}, NULL},
    {"golden/tmem/slices.tile", "four", {NULL}, {""}, NULL},
    {"golden/tmem/parts.tile", "lead", {NULL}, {""}, NULL},
    {"golden/tmem/parts.tile", "at_launch", {NULL}, {"C=1", "C=3"}, NULL},
    {"golden/tmem/parts.tile", "by_cta", {NULL}, {""}, NULL},
    {"golden/tmem/parts.tile", "roles_by_turn", {NULL}, {"M=1", "M=7"}, NULL},
    {"golden/tmem/few_lanes.tile", "of_64", {NULL}, {""}, NULL},
    {"golden/tmem/few_lanes.tile", "some_fours", {NULL}, {""}, NULL},
    {"golden/tmem/pair_slices.tile", "by_16", {NULL}, {""}, NULL},
    {"golden/tmem/threads.tile", "words", {NULL}, {""}, NULL},
    {"golden/tmem/pair_plain.tile", "cp_32x128b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_plain.tile", "cp_4x256b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_pipeline.tile", "through", {NULL}, {"M=128", "M=700"}, NULL},
    {"golden/tmem/cp_b4.tile", "cp_128x256b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b4.tile", "cp_4x256b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b4.tile", "cp_128x128b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b4.tile", "cp_64x128b_02_13", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b4.tile", "cp_64x128b_01_23", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b4.tile", "cp_32x128b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b6.tile", "cp_128x256b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b6.tile", "cp_4x256b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b6.tile", "cp_128x128b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b6.tile", "cp_64x128b_02_13", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b6.tile", "cp_64x128b_01_23", {NULL}, {""}, NULL},
    {"golden/tmem/cp_b6.tile", "cp_32x128b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b4.tile", "cp_128x256b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b4.tile", "cp_4x256b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b4.tile", "cp_128x128b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b4.tile", "cp_64x128b_02_13", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b4.tile", "cp_64x128b_01_23", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b4.tile", "cp_32x128b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b6.tile", "cp_128x256b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b6.tile", "cp_4x256b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b6.tile", "cp_128x128b", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b6.tile", "cp_64x128b_02_13", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b6.tile", "cp_64x128b_01_23", {NULL}, {""}, NULL},
    {"golden/tmem/pair_b6.tile", "cp_32x128b", {NULL}, {""}, NULL},
    {"golden/tmem/cp_plain.tile", "cp_64x128b_02_13", {NULL}, {""}, NULL},
    {"golden/tmem/cp_plain.tile", "cp_64x128b_01_23", {NULL}, {""}, NULL},
    {"golden/tmem/threads.tile", "halves", {NULL}, {""}, NULL},
    {"golden/tmem/threads.tile", "parts", {NULL}, {""}, NULL},
    {"golden/tmem/arrays.tile", "copied", {NULL}, {""}, NULL},
    {"golden/tmem/arrays.tile", "slide", {NULL}, {""}, NULL},
    {"ir/programs/device.tile", "groups", {NULL}, {"T=20 G=3", "T=100 G=7", "T=200 G=14"}, NULL},
    {"ir/programs/device.tile", "turned", {NULL}, {"N=512 G=1", "N=2600 G=6"}, NULL},
    {"ir/programs/device.tile", "pair", {NULL}, {"T=20 G=3", "T=100 G=9"}, NULL},
    {"golden/device/roles.tile", "by_hand", {NULL}, {"T=40 K=64 G1=3", "T=200 K=72 G1=5"}, NULL},
    {"golden/device/roles.tile", "straight", {NULL}, {"M=100"}, NULL},
    {"golden/types/packed_moves.tile", "nibbles_rows", {NULL}, {"M=40 N=512", "M=300 N=256"}, NULL},
    {"golden/types/packed_moves.tile", "nibbles_view", {NULL}, {"M=40 N=512 k=64"}, NULL},
    {"golden/types/packed_moves.tile", "load_panels", {NULL}, {"M=40 N=256"}, NULL},
    {"golden/types/packed_moves.tile", "six_bits_panels", {NULL}, {"M=32 N=256", "M=140 N=512"}, NULL},
    {"golden/types/packed_moves.tile", "load_shared_out", {NULL}, {"M=64 N=256"}, NULL},
    {"golden/device/bulk.tile", "bulk", {NULL}, {"T=40 G1=3", "T=100 G1=9"}, NULL},
    {"golden/device/grouped.tile", "grouped", {NULL}, {"T=40 K=64 G1=3", "T=200 K=136 G1=7"}, NULL},
    {"golden/device/grouped.tile", "every_other", {NULL}, {"T=40 K=32 G1=4", "T=60 K=72 G1=12"}, NULL},
    {"golden/device/plain.tile", "plain", {NULL}, {"T=40 K=64 G1=3", "T=100 K=72 G1=7"}, NULL},
    {"golden/device/shapes.tile", "shapes", {NULL}, {"N=4096 G=2", "N=9000 G=9"}, NULL},
    {"golden/device/shapes.tile", "turned", {NULL}, {"N=512 G=1 start=0", "N=4608 G=3 start=40"}, NULL},
    {"golden/device/team.tile", "by_cta", {NULL}, {"M=60", "M=250"}, NULL},
    {"golden/device/team.tile", "by_variable", {NULL}, {"T=20 G=2", "T=100 G=8"}, NULL},
    {"golden/device/team.tile", "picked", {NULL}, {"E=30 R=40 C=64 G=2", "E=30 R=40 C=136 G=7"}, NULL},
    {"golden/device/team.tile", "together", {NULL}, {"T=20 G1=3", "T=100 G1=9"}, NULL},
    {"golden/modes/im2col_slices.tile", "taps", {NULL}, {"N=1 S=1 H=3 W=5 NHW=15", "N=2 S=3 H=5 W=17 NHW=170"}, NULL},
    {"golden/modes/im2col_slices.tile", "slices32", {NULL}, {"N=1 S=1 H=3 W=5 NHW=15", "N=2 S=3 H=5 W=17 NHW=170"}, NULL},
    {"golden/modes/im2col_slices.tile", "inner", {NULL}, {"N=1 S=1 H=3 W=5 NPQ=3", "N=2 S=3 H=12 W=17 NPQ=300"}, NULL},
    {"golden/modes/im2col_slices.tile", "ring", {NULL}, {"N=1 S=1 H=3 W=5 NHW=15", "N=2 S=3 H=12 W=17 NHW=408"}, NULL},
    {"golden/modes/im2col_slices.tile", "add", {NULL}, {"N=1 S=1 W=5 NW=5", "N=2 S=3 W=170 NW=340"}, NULL},
    {"ir/programs/in_place.tile", "in_place", {NULL}, {"M=8 N=32", "M=40 N=200", "M=100 N=328"}, NULL},
    {"ir/programs/in_place.tile", "some", {NULL}, {"M=8 N=32 n=1", "M=40 N=100 n=3", "M=60 N=100 n=2"}, NULL},
    {"ir/programs/gaps.tile", "gaps", {NULL}, {"M=5", "M=300", "M=3000"}, NULL},
    {"ir/programs/gaps.tile", "chosen", {NULL}, {"M=4 n=1", "M=30 n=4", "M=50 n=20"}, NULL},
    {"golden/sync/phases_5.tile", NULL, {NULL}, {"M=64 N=320"}, NULL},
    {"golden/sync/swap.tile", NULL, {NULL}, {"M=20 N=40"}, NULL},
    {"golden/sync/nested_loops.tile", NULL, {NULL}, {"B=1 M=32 N=64", "B=2 M=32 N=200"}, NULL},
    {"golden/sync/group_and_derived.tile", NULL, {NULL}, {"M=16 N=128"}, NULL},
    {"golden/roles/conditions.tile", "every_other", {NULL}, {"M=16", "M=40", "M=150"}, NULL},
    {"golden/roles/conditions.tile", "ends", {NULL}, {"M=16", "M=60", "M=170"}, NULL},
    {"golden/roles/threads.tile", "three", {NULL}, {"M=16", "M=60"}, NULL},
    {"golden/roles/counted.tile", "counted", {NULL}, {"T=100 count=60", "T=300 count=300", "T=500 count=500"}, NULL},
    {"golden/roles/counted.tile", "part", {NULL}, {"T=100 rows=20", "T=1000 rows=450"}, NULL},
    {"golden/roles/cluster.tile", "cast", {NULL}, {"M=16", "M=90"}, NULL},
    {"golden/roles/masks.tile", "masks", {NULL}, {"M=16", "M=90"}, NULL},
    {"golden/roles/to_first.tile", "collect", {NULL}, {"L=256", "L=1300"}, NULL},
    {"golden/roles/begun.tile", "index", {NULL}, {"M=150 first=0", "M=150 first=1", "M=150 first=5"}, NULL},
    {"golden/roles/begun.tile", "counter", {NULL}, {"M=150 first=0 last=9", "M=150 first=2 last=9", "M=150 first=4 last=5"}, NULL},
    {"golden/roles/begun.tile", "running", {NULL}, {"M=150 first=0 last=9", "M=150 first=2 last=9"}, NULL},
    {"golden/roles/begun.tile", "later", {NULL}, {"M=90 C=1 each=0", "M=150 C=3 each=1", "M=150 C=2 each=4"}, NULL},
    {"golden/roles/both_ends.tile", "middle", {NULL}, {"n=2", "n=6", "n=13"}, NULL},
    {"golden/roles/both_ends.tile", "remainders", {NULL}, {"n=8", "n=13", "n=26"}, NULL},
    {"golden/roles/both_ends.tile", "nested", {NULL}, {"n=2 m=3", "n=3 m=5", "n=7 m=2"}, NULL},
    {"golden/roles/both_ends.tile", "from_below", {NULL}, {"M=64 n=2", "M=64 n=4"}, NULL},
};
const size_t NPROGRAMS = sizeof PROGRAMS / sizeof PROGRAMS[0];

/* ---- symbols ---- */

static bool symbol_value(const char *values, const char *name, int64_t *value)
{
    size_t n = strlen(name);
    for (const char *s = values; s && *s; s += strcspn(s, " "), s += *s == ' ') {
        if (strncmp(s, name, n) != 0 || s[n] != '=') continue;
        *value = strtoll(s + n + 1, NULL, 10);
        return true;
    }
    return false;
}

static int64_t *evaluate(Arena *a, const MfKernel *mf, const char *values)
{
    int64_t *syms = arena_array(a, int64_t, mf->syms.n + 1), *v = arena_array(a, int64_t, mf->lx.nodes.n + 1);
    uint8_t *status = arena_array(a, uint8_t, mf->lx.nodes.n + 1);
    for (uint32_t i = 0; i < mf->syms.n; i++)
        if (!symbol_value(values, mf->syms.v[i].name, &syms[i])) return NULL;
    lx_eval(mf->lx.nodes.v, mf->lx.nodes.n, syms, v, status);
    return v;
}

/* ---- contents ---- */

static void put(uint8_t *p, tile_type type, uint64_t r)
{
    float f = (float)(int)(r % 61) - 30.0F; /* sums are exact in any order */
    int32_t row = (int32_t)(r % 36) - 3;
    uint32_t bits;
    memcpy(&bits, &f, 4);
    uint16_t half = (uint16_t)(bits >> 16);
    if (type == TILE_F32) memcpy(p, &f, 4);
    else if (type == TILE_BF16) memcpy(p, &half, 2);
    else if (type == TILE_S32) memcpy(p, &row, 4);
    else memcpy(p, &r, (size_t)tile_type_bits(type) / 8);
}

/* Facts that are trusted hold: no two elements of the tensor are equal, or none is less than the one before. */
static bool trusted(const MfKernel *mf, Trust fact, uint32_t tensor)
{
    for (uint32_t i = 0; i < mf->trusts.n; i++)
        if (mf->trusts.v[i].fact == fact && mf->trusts.v[i].tensor == tensor) return true;
    return false;
}

bool world_make(World *x, Arena *a, const MfKernel *mf, const char *values)
{
    int64_t *v = evaluate(a, mf, values);
    if (v == NULL || mf->tensors.n > TENSORS || mf->scalars.n > SCALARS) return false;
    for (uint32_t i = 0; i < mf->tensors.n; i++) {
        const MfTensor *mt = &mf->tensors.v[i];
        Tensor *t = &x->tensors[x->ntensors++];
        *t = (Tensor){.name = mt->name, .type = (tile_type)mt->type, .rank = mt->rank};
        size_t bits = (size_t)tile_type_bits(t->type), size = bits / 8, n = 1;
        int64_t each; /* an integer tensor whose elements are all the same */
        for (int d = 0; d < t->rank; d++) n *= (size_t)(t->shape[d] = v[mt->extent[d] - 1]);
        t->bytes = n * bits / 8;
        t->data = malloc(t->bytes + 1);
        t->want = malloc(t->bytes + 1);
        if (t->data == NULL || t->want == NULL) abort();
        for (size_t e = 0; e < n && size > 0; e++) put(t->data + e * size, t->type, world_random(x));
        for (size_t b = 0; b < t->bytes && size == 0; b++) t->data[b] = (uint8_t)world_random(x); /* packed types */
        for (size_t e = 0; e < n && t->type == TILE_S32 && trusted(mf, TRUST_DISTINCT, i); e++)
            memcpy(t->data + e * size, &(int32_t){(int32_t)(e * 7 % 1009) - 3}, size);
        for (size_t e = 0, at = 0; e < n && t->type == TILE_S32 && trusted(mf, TRUST_SORTED, i); e++, at += world_random(x) % 40)
            memcpy(t->data + e * size, &(int32_t){(int32_t)at - 3}, size);
        for (size_t e = 0; e < n && symbol_value(values, t->name, &each); e++) memcpy(t->data + e * size, &each, size);
        memcpy(t->want, t->data, t->bytes);
    }
    for (uint32_t i = 0; i < mf->scalars.n; i++) {
        x->scalars[x->nscalars].name = mf->scalars.v[i].name;
        if (!symbol_value(values, mf->syms.v[mf->scalars.v[i].sym].name, &x->scalars[x->nscalars++].value))
            return false;
    }
    return true;
}

void world_free(World *x)
{
    for (int i = 0; i < x->ntensors; i++) {
        free(x->tensors[i].data);
        free(x->tensors[i].want);
    }
    x->ntensors = x->nscalars = 0;
}
