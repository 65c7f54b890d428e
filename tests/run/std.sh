# The kernels of the library that is built in, for run.sh, in the terms of cases.sh and numbers.sh.
reshape() { "$REFERENCE" reshape "$work/$1.npy" "$2" "$work/$3.npy"; }
numbers_of() { "$REFERENCE" numbers "$1" "$2" "$work/$3.npy"; }

for t in u8:u1 bf16:u2 f32:f4 s64:i8; do
    of=${t%:*} d=-DT=${t%:*}
    make "${t#*:}" 40000 a
    case_ std.copy:copy1 "$d" src="$work/a.npy" dst="$of[40000]:$work/b.npy" && same a b
    for shape in 1,16 130,528; do
        make "${t#*:}" $shape a
        case_ std.copy:copy2 "$d" src="$work/a.npy" dst="$of[$shape]:$work/b.npy" && same a b
        case_ std.copy:pad "$d" x="$work/a.npy" y="$of[200,560]:$work/b.npy" top=5 left=16 && affine a b 0 -5,-16 1,1
        case_ std.copy:pad "$d" x="$work/a.npy" y="$of[100,64]:$work/b.npy" top=-7 left=-32 && affine a b 0 7,32 1,1
        case_ std.rows:roll -D roll.T=$of x="$work/a.npy" out="$of[$shape]:$work/b.npy" first=0 && same a b
    done
    make "${t#*:}" 5,70,80 a
    case_ std.copy:copy3 "$d" src="$work/a.npy" dst="$of[5,70,80]:$work/b.npy" && same a b
    make "${t#*:}" 3,2,70,80 a
    case_ std.copy:copy4 "$d" src="$work/a.npy" dst="$of[3,2,70,80]:$work/b.npy" && same a b
    make "${t#*:}" 2,3,2,70,80 a
    case_ std.copy:copy5 "$d" src="$work/a.npy" dst="$of[2,3,2,70,80]:$work/b.npy" && same a b
    case $of in u8 | s64) v=3 ;; *) v=0 ;; esac
    case_ std.copy:constant "$d" y="$of[77,48]:$work/b.npy" -D constant.V=$v && constant "${t#*:}" 77,48 $v a && same a b

    make "${t#*:}" 144,272 a
    case_ std.transpose:transpose2 "$d" src="$work/a.npy" dst="$of[272,144]:$work/b.npy" && map a b 0 0 1,272 272,144
    make "${t#*:}" 3,16,144 a
    case_ std.transpose:transpose3 "$d" src="$work/a.npy" dst="$of[3,144,16]:$work/b.npy" && map a b 0 0 2304,1,144 3,144,16
    make "${t#*:}" 2,3,16,144 a
    case_ std.transpose:transpose4 "$d" src="$work/a.npy" dst="$of[2,3,144,16]:$work/b.npy" && map a b 0 0 6912,2304,1,144 2,3,144,16
    make "${t#*:}" 2,1,3,16,48 a
    case_ std.transpose:transpose5 "$d" src="$work/a.npy" dst="$of[2,1,3,48,16]:$work/b.npy" && map a b 0 0 2304,2304,768,1,48 2,1,3,48,16

    make "${t#*:}" 50,1040 a
    index 50 77 i
    case_ std.rows:gather -D gather.T=$of table="$work/a.npy" idx="$work/i.npy" out="$of[77,1040]:$work/b.npy" && gather a i b
    "$REFERENCE" distinct 90 50 $seed "$work/i.npy"
    make "${t#*:}" 90,1040 c
    case_ std.rows:scatter -D scatter.T=$of x="$work/a.npy" idx="$work/i.npy" out="$work/c.npy:$work/b.npy" && scatter a i c b
    case_ std.rows:roll -D roll.T=$of x="$work/a.npy" out="$of[50,1040]:$work/b.npy" first=13 &&
        rows a b 13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,0,1,2,3,4,5,6,7,8,9,10,11,12
    make "${t#*:}" 5,1040 a
    case_ std.rows:roll -D roll.T=$of x="$work/a.npy" out="$of[5,1040]:$work/b.npy" first=5 && same a b
    case_ std.rows:flip -D flip.T=$of x="$work/a.npy" out="$of[5,1040]:$work/b.npy" && rows a b 4,3,2,1,0

    numbers_of i4 3,-1,0 i
    make "${t#*:}" 4,8,528 a
    reshape a 32,528 c
    case_ std.pages:gather "$d" cache="$work/a.npy" table="$work/i.npy" out="$of[21,528]:$work/b.npy" &&
        rows c b 24,25,26,27,28,29,30,31,-1,-1,-1,-1,-1,-1,-1,-1,0,1,2,3,4
    make "${t#*:}" 5,528 a
    make "${t#*:}" 4,8,528 c
    numbers_of i4 31,-1,0,9,8 i
    if case_ std.pages:append "$d" x="$work/a.npy" slot="$work/i.npy" cache="$work/c.npy:$work/b.npy"; then
        reshape c 32,528 d && reshape b 32,528 e && scatter a i d e
    fi

    numbers_of i4 0,3,3,10 i
    make "${t#*:}" 10,144 a
    if case_ std.ragged:unpack "$d" x="$work/a.npy" offs="$work/i.npy" out="$of[3,5,144]:$work/b.npy"; then
        reshape b 15,144 c && rows a c 0,1,2,-1,-1,-1,-1,-1,-1,-1,3,4,5,6,7
    fi
    make "${t#*:}" 3,7,144 a
    reshape a 21,144 c
    case_ std.ragged:pack "$d" x="$work/a.npy" offs="$work/i.npy" out="$of[10,144]:$work/b.npy" && rows c b 0,1,2,14,15,16,17,18,19,20
    make "${t#*:}" 10,144 a
    make "${t#*:}" 12,144 c
    numbers_of i4 1,4,6,12 j
    numbers_of i4 1,2,3,6,7,8,9,10,11 k
    numbers_of i4 0,1,2,3,4,5,6,7,8 l
    case_ std.ragged:copy "$d" from="$work/a.npy" offs="$work/i.npy" to="$work/c.npy:$work/b.npy" at="$work/j.npy" && {
        "$REFERENCE" take "$work/a.npy" "$work/l.npy" 9 "$work/d.npy" && scatter d k c b
    }

    make "${t#*:}" 70,64 a
    make "${t#*:}" 70,272 c
    make "${t#*:}" 70,16 d
    case_ std.copy:concat2 "$d" a="$work/a.npy" b="$work/c.npy" out="$of[70,336]:$work/b.npy" && block a b 0,0 70,64 0,0
    case_ std.copy:concat2 "$d" a="$work/a.npy" b="$work/c.npy" out="$of[70,336]:$work/b.npy" && block c b 0,0 70,272 0,64
    case_ std.copy:concat3 "$d" a="$work/a.npy" b="$work/c.npy" c="$work/d.npy" out="$of[70,352]:$work/b.npy" && block c b 0,0 70,272 0,64
    case_ std.copy:concat3 "$d" a="$work/a.npy" b="$work/c.npy" c="$work/d.npy" out="$of[70,352]:$work/b.npy" && block d b 0,0 70,16 0,336

    make "${t#*:}" 50,80 a
    case_ std.cluster:broadcast "$d" w="$work/a.npy" out="$of[4,50,80]:$work/b.npy" && map a b 0 0 0,80,1 4,50,80
    make "${t#*:}" 4,1040 a
    case_ std.cluster:all_gather "$d" x="$work/a.npy" out="$of[4,4,1040]:$work/b.npy" && map a b 0 0 0,1040,1 4,4,1040
    case_ std.cluster:ring "$d" x="$work/a.npy" out="$of[4,1040]:$work/b.npy" && rows a b 3,0,1,2
done

make f4 77,1040 a
index 50 77 i
make f4 50,1040 c
small f32 77,1040 100 a
small f32 50,1040 100 c
case_ std.rows:scatter_add x="$work/a.npy" idx="$work/i.npy" sum="$work/c.npy:$work/b.npy" && scatter_add a i c b
small bf16 77,1040 100 a
if case_ std.convert:convert x="$work/a.npy" y="f32[77,1040]:$work/d.npy"; then
    convert bf16 f32 a d 0
    case_ std.rows:combine x="$work/a.npy" idx="$work/i.npy" sum="$work/c.npy:$work/b.npy" && scatter_add d i c b
fi
for t in f32:e4m3 f16:s8 s32:f64 f64:bf16; do
    edges "${t%:*}" 70,144 a
    case_ std.convert:convert "-Dconvert.T=${t%:*}" "-Dconvert.U=${t#*:}" x="$work/a.npy" y="${t#*:}[70,144]:$work/b.npy" && converted "${t%:*}" "${t#*:}" a b 0
    case_ std.convert:saturate "-Dsaturate.T=${t%:*}" "-Dsaturate.U=${t#*:}" x="$work/a.npy" y="${t#*:}[70,144]:$work/b.npy" && converted "${t%:*}" "${t#*:}" a b 1
done
