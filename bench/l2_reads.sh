#!/bin/sh
# bench/l2_reads.sh BIN [CASE]: what the loads of a GEMM (or of another CASE of moves) read from L2, by cluster, as Nsight Compute
# counts it: the bytes that arrive in shared memory, those of them that came by multicast, the bytes read from L2 for them, and
# from DRAM. Each figure is the median over the launches of the case. BIN: build/release/bin. Needs a GPU and ncu (NCU names it),
# which may ask for the right to read counters.
#
# A read that several SMs ask for at about the same time is counted in L2 once where the crossbar merges them: without
# clusters fewer bytes are read from L2 than arrive.
set -eu
[ $# -ge 1 ] || { echo "usage: bench/l2_reads.sh build/release/bin [CASE]" >&2; exit 2; }
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
ncu=${NCU:-$(command -v ncu || ls /usr/local/cuda/bin/ncu 2>/dev/null || :)}
[ -n "$ncu" ] || { echo "l2_reads.sh: there is no ncu" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
arrived=l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld
metrics=launch__cluster_dim_x,launch__cluster_dim_y,$arrived.sum,${arrived}_dest_multicast.sum
metrics=$metrics,lts__t_sectors_srcunit_tex_op_read.sum,dram__bytes_read.sum
if ! "$ncu" --metrics $metrics --print-units base --csv "$bin/moves" --repeats=1 --quick "${2:-loads of a GEMM}" >"$work/said" 2>&1; then
    cat "$work/said" >&2
    exit 3
fi
awk -F'","' '
    /^"[0-9]+",/ {
        sub(/^"/, "", $1); sub(/"$/, "", $NF); gsub(/,/, "", $NF)
        if (!($1 in kernel)) id[++n] = $1
        kernel[$1] = $5
        value[$1, $(NF - 2)] = $NF
    }
    function cluster(i, d,    v) { v = value[i, "launch__cluster_dim_" d]; return v > 0 ? v : 1 } # 0: none was asked for
    function median(k, name, scale,    m, i, j, v, t) {
        m = split(of[k], v, " ")
        for (i = 1; i <= m; i++) v[i] = value[v[i], name] * scale
        for (i = 2; i <= m; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return v[int((m + 1) / 2)] / 1e9
    }
    END {
        for (i = 1; i <= n; i++) {
            k = kernel[id[i]] " | " cluster(id[i], "x") " x " cluster(id[i], "y")
            if (!(k in of)) row[++rows] = k
            of[k] = of[k] " " id[i]
        }
        a = "'$arrived'"
        print "| kernel | cluster | launches | arrived, GB | by multicast | read from L2, GB | read from DRAM, GB |"
        print "| --- | --- | --- | --- | --- | --- | --- |"
        for (i = 1; i <= rows; i++) {
            k = row[i]
            all = median(k, a ".sum", 1); l2 = median(k, "lts__t_sectors_srcunit_tex_op_read.sum", 32)
            if (all > 0) printf "| %s | %d | %.3f | %.0f %% | %.3f (%.0f %%) | %.3f |\n", k, split(of[k], unused, " "), all, 100 * median(k, a "_dest_multicast.sum", 1) / all, l2, 100 * l2 / all, median(k, "dram__bytes_read.sum", 1)
        }
    }' "$work/said"
