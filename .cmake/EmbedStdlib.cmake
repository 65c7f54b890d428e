# cmake -D ROOT=stdlib -D OUT=stdlib_embed.c -P EmbedStdlib.cmake
#
# Writes the standard library's sources, and the tune files beside them, as one C file.
include(${CMAKE_CURRENT_LIST_DIR}/Bytes.cmake)
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/*.tile)
list(SORT files)
set(arrays "")
set(rows "")
set(n 0)
# A row's path, text and size, of an array in `arrays`; NULL and 0 where there is no such file.
macro(embed file array)
    if(EXISTS ${ROOT}/${file})
        bytes_of(${ROOT}/${file} hex size)
        string(APPEND arrays "static const unsigned char ${array}[] = { /* ${file} */\n    ${hex}0x00};\n")
        string(APPEND rows "\"${file}\", (const char *)${array}, ${size}")
    else()
        string(APPEND rows "NULL, NULL, 0")
    endif()
endmacro()
foreach(file IN LISTS files)
    string(REGEX REPLACE "\\.tile$" "" stem "${file}")
    string(REPLACE "/" "." module "${stem}")
    string(APPEND rows "    {\"${module}\", ")
    embed(${file} text_${n})
    string(APPEND rows ", ")
    embed(${stem}.tune tune_${n})
    string(APPEND rows "},\n")
    math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include \"frontend/stdlib_embed.h\"\n\n${arrays}\nstatic const StdlibFile FILES[] = {\n"
     "${rows}    {NULL, NULL, NULL, 0, NULL, NULL, 0},\n};\n\nconst StdlibFile *stdlib_files(size_t *n)\n{\n    *n = ${n};\n"
     "    return FILES;\n}\n")
