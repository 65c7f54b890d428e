# Programs with views that are made at run time, for run.sh, in the terms of cases.sh: groups of rows that data bounds, empty ones
# among them and some that reach out of the tensor, matrices of several shapes in one buffer. What no group has keeps its poison.
#   numbers DTYPE N0,N1,.. NAME, groups, firsts, matrices, turned, bumped: reference_groups.c

d=tests/golden/device
numbers() { "$REFERENCE" numbers "$1" "$2" "$work/$3.npy"; }
groups() { said=$("$REFERENCE" groups "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" "$5" 2>&1); judge $? "$said"; }
firsts() { said=$("$REFERENCE" firsts "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" "$work/$5.npy" 2>&1); judge $? "$said"; }
matrices() {
    said=$("$REFERENCE" matrices "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" "$work/$5.npy" "$work/$6.npy" "$7" 2>&1)
    judge $? "$said"
}
turned() { said=$("$REFERENCE" turned "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" "$work/$4.npy" "$work/$5.npy" 2>&1); judge $? "$said"; }
bumped() { said=$("$REFERENCE" bumped "$work/$1.npy" "$work/$2.npy" "$work/$3.npy" 2>&1); judge $? "$said"; }

# ---- from one element of a sorted list to the next, without views ----
between=tests/golden/independence/between.tile
numbers i4 0,3,3,5,8 o
make f4 8,16,64 a
case_ $between:rows x="$work/a.npy" at="$work/o.npy" y="f32[8,16,64]:$work/b.npy" && same a b
case_ tests/golden/roles/segments.tile x="$work/a.npy" seg="$work/o.npy" y="f32[8,16,64]:$work/b.npy" && same a b
for m in 61 64; do
    make f4 $m,64 a
    case_ $between:parts x="$work/a.npy" at="$work/o.npy" y="f32[$m,64]:$work/b.npy" && same a b
    make f4 $((2 * m)),64 a
    case_ $between:pairs x="$work/a.npy" at="$work/o.npy" y="f32[$((2 * m)),64]:$work/b.npy" && same a b
done

# Has the simulator tensormap.replace? A GPU has, if it is one that runs programs at all.
makes_maps() {
    case ${LIST:-}$device in sim*) ;; *) return 0 ;; esac
    make u4 20,64 a
    make u4 2,20,64 b
    numbers i4 0,20 o
    settle
    "$TILECC" run --device="$device" $d/team.tile:together x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" >"$work/said" 2>&1
    ! grep -q E1351 "$work/said"
}

run_time_views() {
    for offsets in 0 0,150 5,5,5,40,41,130,130,200 -7,-1,0,64,65,128,149 0,0,0,150,150 30,94,158 149,150,151; do
        numbers i4 $offsets o
        for width in 8 72 $(many '264 1032' 136); do
            make u2 150,$width a
            make u2 150,$width b
            case_ $d/grouped.tile:grouped x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" &&
                groups a o b c 1
            case_ $d/view_in_view.tile x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
            make f4 150,$width a
            make f4 150,$width b
            case_ $d/grouped.tile:every_other x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" &&
                groups a o b c 2
        done
        make u4 150,64 a
        make u4 2,150,64 b
        case_ $d/team.tile:together x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
        make u2 150,64 a
        make u2 150,64 b
        case_ $d/roles.tile:by_hand x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
        case_ $d/roles.tile:ring x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
    done
    for rows in 80 120; do
        make u2 $rows,64 a
        make u2 $rows,64 b
        numbers i4 0,10 n
        case_ $d/roles.tile:straight x="$work/a.npy" n="$work/n.npy" y="$work/b.npy:$work/c.npy" && window a b c 10,0 80,64
    done
    for n in 0 1 64 65 130 150; do
        make f2 150,64 a
        make f2 150,64 b
        numbers i4 $n n
        tiles=$(((n + 63) / 64 * 64))
        numbers i4 0,$tiles o
        case_ $h/roles/counted.tile:counted x="$work/a.npy" count="$work/n.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
        numbers i4 13,$n n
        numbers i4 13,$((13 + n)) o
        case_ $h/roles/counted.tile:part x="$work/a.npy" rows="$work/n.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
    done
    for parts in 1 3 17 $(many 400 60); do
        rows=$((parts * 30 + 7))
        offsets $parts $rows o
        make u2 $rows,136 a
        make u2 $rows,136 b
        case_ $d/grouped.tile:grouped x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
    done
    for n in 8 960 9016; do
        make u2 $n a
        make u2 $n b
        numbers i4 0,7,1,90,-3,200,1120 s
        numbers i4 1,70,0,65,3,-4,100 m
        numbers i4 1,1,5,9,2,3,0 k
        case_ $d/shapes.tile:shapes flat="$work/a.npy" start="$work/s.npy" ms="$work/m.npy" ks="$work/k.npy" out="$work/b.npy:$work/c.npy" &&
            matrices a s m k b c 8
        make f4 $n a
        make f4 $n b
        numbers i8 -1,0,33,230,9000000000 s
        numbers i4 0,1,6,40,2 m
        case_ $d/shapes.tile:turned flat="$work/a.npy" start="$work/s.npy" ms="$work/m.npy" out="$work/b.npy:$work/c.npy" &&
            turned a s m b c
    done
    for rows in 1 99 100 101 $(many 1777 350); do
        make u2 $rows,256 a
        case_ $d/team.tile:by_cta x="$work/a.npy" y="bf16[$rows,256]:$work/b.npy" && same a b
    done
    make f4 50,32 a
    make f4 50,32 b
    numbers i4 3,0,20,-2,9,40,1 s
    numbers i4 0,3,3,23,23,32,72,73 o
    case_ $d/team.tile:by_variable x="$work/a.npy" sizes="$work/s.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
    for shape in 1,8 32,64 37,72 $(many 200,264 70,136); do
        make u2 3,$shape a
        numbers i4 2,0,-1,1,3,2 i
        case_ $d/team.tile:picked w="$work/a.npy" ids="$work/i.npy" y="bf16[6,$shape]:$work/b.npy" && gather a i b
    done
    make u4 150,64 a
    make u4 150,64 b
    reshape a 1,150,64 w
    numbers u4 0,0,0,0,0,0,0 i
    numbers u4 5,5,5,40,41,130,130,200 u
    numbers i4 5,5,5,40,41,130,130,200 o
    case_ $d/team.tile:rows_of_picked w="$work/w.npy" ids="$work/i.npy" offs="$work/u.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
}

# Back to where they came from.
in_place() {
    for offsets in 0 5,5,5,40,41,130,130,200 -7,-1,0,16,33,64,65,128,149 0,0,0,150,150; do
        numbers i4 $offsets o
        for width in $(many '4 64' 36); do
            floats f32 150,$width a
            case_ $d/in_place.tile:grouped y="$work/a.npy:$work/c.npy" offs="$work/o.npy" && bumped a o c
        done
        make u2 150,136 a
        case_ $d/in_place.tile:tiles y="$work/a.npy:$work/c.npy" offs="$work/o.npy" && same a c
        floats f32 150,32 a
        case_ $d/in_place.tile:dealt y="$work/a.npy:$work/c.npy" offs="$work/o.npy" && bumped a o c
    done
    for rows in 1 41 130 $(many 1777 350); do
        floats f32 $rows,32 a
        numbers i4 0,$rows o
        case_ $d/in_place.tile:by_cta y="$work/a.npy:$work/c.npy" && bumped a o c
    done
    floats f32 90,32 a
    for part in 17,40 60,90 -5,20 3,0; do
        numbers i4 $part n
        first=${part%,*}
        numbers i4 $first,$((first + ${part#*,})) o
        case_ $d/in_place.tile:window y="$work/a.npy:$work/c.npy" rows="$work/n.npy" && bumped a o c
    done
}

# Parts of groups.
narrowed() {
    make u2 150,64 a
    make u2 150,64 b
    numbers i8 -5,-1,0,16,33,64,65,128,149,200 o
    case_ $d/narrowed.tile:capped x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
    make f4 100,32 a
    make f4 100,32 b
    numbers i4 -4,0,30,41,42,90,130 o
    numbers i4 -4,-1,0,20,30,40,41,41,42,62,90,110 r
    case_ $d/narrowed.tile:but_one x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a r b c 2
    make f4 100,256 a
    make f4 100,256 b
    case_ $d/narrowed.tile:columns x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
}

# Places in units of several elements.
scaled() {
    for n in 1920 1640 88 8; do
        make f2 $n a
        make f2 $n b
        numbers i4 5,11,11,164,204,234 o
        numbers i4 5,11,11,164,204 s
        numbers i4 3,0,17,40,1 m
        numbers i4 2,5,9,1,30 k
        case_ $d/scaled.tile:eights flat="$work/a.npy" offs="$work/o.npy" ms="$work/m.npy" ks="$work/k.npy" out="$work/b.npy:$work/c.npy" &&
            matrices a s m k b c 8
    done
    numbers i4 0,3,3,20,61,61,70 o
    numbers i4 0,3,3,20,61,61 s
    numbers i4 3,0,17,41,0,9 m
    numbers i4 1,1,1,1,1,1 k
    for shape in 8,560 72,5040 72,5000 136,9000; do
        make f2 ${shape#*,} a
        make f2 ${shape#*,} b
        case_ $d/scaled.tile:rows flat="$work/a.npy" offs="$work/o.npy" shape="f16[${shape%,*}]" out="$work/b.npy:$work/c.npy" &&
            matrices a s m k b c ${shape%,*}
    done
}

# Bounds of 64 bits.
wide() {
    make u2 150,64 a
    make u2 150,64 b
    for offsets in 0 -300,-7,-1,0,16,33,64,65,128,149,200; do
        numbers i8 $offsets o
        case_ $d/wide.tile:grouped x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
    done
}

# The same without maps.
bulk_views() {
    for offsets in 0 0,90 5,5,5,40,41,70,70,200 -7,-1,0,16,33,89 88,90,91; do
        numbers i4 $offsets o
        make f4 90,64 a
        make f4 90,64 b
        groups_=$(echo $offsets | tr , '\n' | wc -l)
        make f4 $groups_,64 z
        indices i4 20 90 w
        case_ $d/bulk.tile x="$work/a.npy" offs="$work/o.npy" w="$work/w.npy" y="$work/b.npy:$work/c.npy" z="$work/z.npy:$work/e.npy" &&
            groups a o b c 1 && firsts a o w z e
        make u2 90,72 a
        make u2 90,72 b
        case_ $d/plain.tile x="$work/a.npy" offs="$work/o.npy" y="$work/b.npy:$work/c.npy" && groups a o b c 1
    done
}

bulk_views
make u2 20,12 a
numbers i4 0,20 o
refuse_ 2 'E1160.*K = 12' $d/grouped.tile:grouped x="$work/a.npy" offs="$work/o.npy" y="bf16[20,12]:$work/b.npy"
make u2 20,64 a
numbers i4 0,9,8,20 o
refuse_ 2 'E1162.*offs.1. is 9 and offs.2. is 8' $d/grouped.tile:grouped x="$work/a.npy" offs="$work/o.npy" y="bf16[20,64]:$work/b.npy"
make f4 21,32 a
numbers i8 -9223372036854775808,-9223372036854775807,-9000000000000000000,-1,0,1,9000000000000000001,9223372036854775807 n
case_ $d/wide.tile:quotients x="$work/a.npy" far="$work/n.npy" y="f32[8,32]:$work/b.npy" && rows a b 1,1,1,10,10,11,20,20
if makes_maps; then
    run_time_views
    in_place
    narrowed
    scaled
    wide
fi
