# folder.sh FOLDER: the programs of golden/.. or reject/.. of that folder, not of those in it, as `tilecc test` sees them: what is said, the PTX, the IR.
. ./common.sh
cd "$1" || exit 3
"$TILECC" test -j 1 --variants=off --device=sim *.tile || fail "$1"
finish
