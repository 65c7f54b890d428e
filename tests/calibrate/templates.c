/* The kernel around a case's instruction.
 *
 * Fill shared memory from `fill`, make the barrier, meet the cluster; thread 0 of the issuing CTA executes the case's
 * instruction; thread 0 of each CTA that expects bytes waits (a bounded time: too few bytes must not hang); meet the
 * cluster again; write shared memory to `out`.
 */
#include <stdio.h>

#include "tests/calibrate/calibrate.h"

static const char HEAD[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
    ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 p_tensor, .param .u64 p_fill, .param .u64 p_out,\n"
    "                  .param .u64 p_args)\n{\n"
    ".reg .pred %p<16>;\n.reg .b16 %h<8>;\n.reg .b32 %t, %s, %bar, %i, %v, %rank, %n, %tx, %status, %r<32>;\n"
    ".reg .b32 %c0, %c1, %c2, %c3, %c4, %off, %region, %size, %mask, %issuer, %peer, %off2, %goff;\n"
    ".reg .b64 %tensor, %fill, %out, %args, %map, %g, %at, %rd<32>;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %rank, %cluster_ctarank;\nmov.u32 %n, %cluster_nctarank;\nmov.u32 %s, smem;\n"
    "ld.param.u64 %tensor, [p_tensor];\ncvta.to.global.u64 %tensor, %tensor;\n"
    "ld.param.u64 %fill, [p_fill];\ncvta.to.global.u64 %fill, %fill;\n"
    "ld.param.u64 %out, [p_out];\ncvta.to.global.u64 %out, %out;\n"
    "ld.param.u64 %args, [p_args];\ncvta.to.global.u64 %args, %args;\n"
    "mov.b64 %map, map;\ncvta.param.u64 %map, %map;\n"
    "ld.global.u32 %c0, [%args];\nld.global.u32 %c1, [%args+4];\nld.global.u32 %c2, [%args+8];\n"
    "ld.global.u32 %c3, [%args+12];\nld.global.u32 %c4, [%args+16];\nld.global.u32 %off, [%args+20];\n"
    "ld.global.u32 %region, [%args+28];\nld.global.u32 %size, [%args+32];\nld.global.u32 %mask, [%args+36];\n"
    "ld.global.u32 %issuer, [%args+40];\nld.global.u32 %peer, [%args+44];\nld.global.u32 %off2, [%args+48];\n"
    "ld.global.u32 %goff, [%args+52];\ncvt.u64.u32 %g, %goff;\nadd.s64 %g, %tensor, %g;\n"
    "mul.wide.u32 %at, %rank, 4;\nadd.s64 %at, %args, %at;\nld.global.u32 %tx, [%at+64];\n"
    "add.u32 %bar, %s, %region;\nadd.u32 %off, %off, %s;\nadd.u32 %off2, %off2, %s;\ncvt.u16.u32 %h0, %mask;\n"
    "mul.wide.u32 %rd0, %rank, %region;\nadd.s64 %fill, %fill, %rd0;\nadd.s64 %out, %out, %rd0;\nmov.u32 %status, 1;\n"
    /* fill */
    "shl.b32 %i, %t, 2;\n"
    "L_fill:\nsetp.ge.u32 %p0, %i, %region;\n@%p0 bra L_filled;\ncvt.u64.u32 %rd1, %i;\nadd.s64 %rd1, %fill, %rd1;\n"
    "ld.global.u32 %v, [%rd1];\nadd.u32 %r0, %s, %i;\nst.shared.u32 [%r0], %v;\nadd.u32 %i, %i, 512;\nbra L_fill;\n"
    "L_filled:\nsetp.ne.u32 %p1, %t, 0;\n@%p1 bra L_made;\n"
    "mbarrier.init.shared::cta.b64 [%bar], 1;\nfence.mbarrier_init.release.cluster;\n"
    "L_made:\nfence.proxy.async;\nbarrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
    "@%p1 bra L_waited;\nsetp.eq.u32 %p2, %tx, 0;\n@%p2 bra L_expected;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], %tx;\n"
    "L_expected:\nsetp.ne.u32 %p3, %rank, %issuer;\n@%p3 bra L_issued;\n";

static const char TAIL[] =
    "L_issued:\n@%p2 bra L_waited;\nmov.u32 %i, 0;\n"
    "L_wait:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p4, [%bar], 0;\n@%p4 bra L_waited;\n"
    "add.u32 %i, %i, 1;\nsetp.lt.u32 %p5, %i, 200000;\n@%p5 bra L_wait;\nmov.u32 %status, 2;\n"
    "L_waited:\nbarrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n"
    "shl.b32 %i, %t, 2;\n"
    "L_dump:\nsetp.ge.u32 %p0, %i, %region;\n@%p0 bra L_dumped;\ncvt.u64.u32 %rd1, %i;\nadd.s64 %rd1, %out, %rd1;\n"
    "add.u32 %r0, %s, %i;\nld.shared.u32 %v, [%r0];\nst.global.u32 [%rd1], %v;\nadd.u32 %i, %i, 512;\nbra L_dump;\n"
    "L_dumped:\n@%p1 bra L_done;\nld.param.u64 %out, [p_out];\ncvta.to.global.u64 %out, %out;\n"
    "mul.wide.u32 %rd0, %n, %region;\nadd.s64 %out, %out, %rd0;\nmul.wide.u32 %rd1, %rank, 4;\n"
    "add.s64 %out, %out, %rd1;\nst.global.u32 [%out], %status;\n"
    "L_done:\nbarrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\nret;\n}\n";

void write_ptx(const Case *c, char *text, unsigned long room)
{
    snprintf(text, room, "%s%s%s", HEAD, c->core, TAIL);
}
