# cmake -D ROOT=folder -D FILES="a,b" -D OUT=embedded.c -P EmbedFiles.cmake
#
# Writes files as one C file, for tilecc/embedded.h. Bytes, not string literals: C11 promises only 4095 characters.
string(REPLACE "," ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(n 0)
foreach(file IN LISTS FILES)
    file(READ ${ROOT}/${file} hex HEX)
    string(LENGTH "${hex}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
    string(REGEX REPLACE " +\n" "\n" hex "${hex}")
    string(APPEND arrays "static const unsigned char text_${n}[] = { /* ${file} */\n    ${hex}0x00};\n")
    string(APPEND rows "    {\"${file}\", (const char *)text_${n}, ${size}},\n")
    math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include \"tilecc/embedded.h\"\n\n${arrays}\nconst Embedded embedded_files[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
