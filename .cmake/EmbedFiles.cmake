# cmake -D FILES="folder/a,folder/b" -D OUT=embedded.c -P EmbedFiles.cmake
#
# Writes files as one C file, for tilecc/embedded.h.
include(${CMAKE_CURRENT_LIST_DIR}/Bytes.cmake)
string(REPLACE "," ";" FILES "${FILES}")
set(arrays "")
set(rows "")
set(n 0)
foreach(file IN LISTS FILES)
    bytes_of(${file} hex size)
    get_filename_component(file ${file} NAME)
    string(APPEND arrays "static const unsigned char text_${n}[] = { /* ${file} */\n    ${hex}0x00};\n")
    string(APPEND rows "    {\"${file}\", (const char *)text_${n}, ${size}},\n")
    math(EXPR n "${n} + 1")
endforeach()
file(WRITE ${OUT} "#include \"tilecc/embedded.h\"\n\n${arrays}\nconst Embedded embedded_files[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
