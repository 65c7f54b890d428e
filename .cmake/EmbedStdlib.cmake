# cmake -D ROOT=stdlib -D OUT=stdlib_embed.c -P EmbedStdlib.cmake
#
# Writes the standard library's sources as one C file. Bytes, not string literals: C11 promises only 4095 characters.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.tile)
list(SORT files)
set(arrays "")
set(rows "")
set(n 0)
foreach(file IN LISTS files)
    file(READ ${ROOT}/${file} hex HEX)
    string(LENGTH "${hex}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
    string(REGEX REPLACE " +\n" "\n" hex "${hex}")
    string(REGEX REPLACE "\\.tile$" "" module "${file}")
    string(REPLACE "/" "." module "${module}")
    string(APPEND arrays "static const unsigned char text_${n}[] = { /* ${file} */\n    ${hex}0x00};\n")
    string(APPEND rows "    {\"${module}\", \"${file}\", (const char *)text_${n}, ${size}},\n")
    math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include \"frontend/stdlib_embed.h\"\n\n${arrays}\nstatic const StdlibFile FILES[] = {\n"
     "${rows}    {NULL, NULL, NULL, 0},\n};\n\nconst StdlibFile *stdlib_files(size_t *n)\n{\n    *n = ${n};\n"
     "    return FILES;\n}\n")
