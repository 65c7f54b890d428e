# tile_floor(NAME SEES <floor>... [EXCLUDE <regex>] [SOURCES <file>...])
#
# An object library with the .c files of the current folder. All code writes #include "lang/arena.h", from the
# repository's root; but the root is on no include path. Each floor gets a folder of its own in the build tree with
# links to just the floors that it may see, so that an include of a higher floor does not find its file.
function(tile_floor name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCLUDE" "SEES;SOURCES")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    if(arg_EXCLUDE)
        list(FILTER sources EXCLUDE REGEX "${arg_EXCLUDE}")
    endif()
    add_library(${name} OBJECT ${sources} ${arg_SOURCES})
    tile_view(${name} ${arg_SEES} ${name})
endfunction()

# Gives `target` an include folder that shows the given folders of the repository and nothing else.
function(tile_view target)
    set(view ${PROJECT_BINARY_DIR}/floors/${target})
    file(MAKE_DIRECTORY ${view})
    file(GLOB old ${view}/*)
    list(APPEND old ${view}/none)
    file(REMOVE ${old})
    foreach(folder IN LISTS ARGN)
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)
    endforeach()
    target_include_directories(${target} PRIVATE ${view})
endfunction()
