# tile_floor(NAME SEES <folder>... [EXCLUDE <regex>] [SOURCES <file>...])
#
# An object library with the .c files of the current folder. All code writes #include "lang/arena.h", from the
# repository's root; but the root is on no include path. Each floor gets a folder of its own in the build tree with
# links to just the folders that it may see (and its own), so that an include of a higher floor does not find its file.
# A room of a floor (lower/ir) and a single header are seen in the same way.
function(tile_floor name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCLUDE" "SEES;SOURCES")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.c)
    if(arg_EXCLUDE)
        list(FILTER sources EXCLUDE REGEX "${arg_EXCLUDE}")
    endif()
    add_library(${name} OBJECT ${sources} ${arg_SOURCES})
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE own)
    tile_view(${name} ${arg_SEES} ${own})
endfunction()

# Gives `target` an include folder that shows the given folders of the repository and nothing else.
function(tile_view target)
    set(view ${PROJECT_BINARY_DIR}/floors/${target})
    file(REMOVE_RECURSE ${view}) # of links: what they show stays
    foreach(folder IN LISTS ARGN)
        cmake_path(GET folder PARENT_PATH above)
        file(MAKE_DIRECTORY ${view}/${above})
        file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)
    endforeach()
    target_include_directories(${target} PRIVATE ${view})
endfunction()

# tile_symbols(TARGET VERSION PATTERN): the shared library shows what its public headers declare, each name with the version of the
# interface that it is of, and nothing else, whatever is linked into it; and it holds what these need, nothing else.
function(tile_symbols target version pattern)
    set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
    file(CONFIGURE OUTPUT ${map} CONTENT "${version} { global: ${pattern}; local: *; };\n")
    target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:--gc-sections)
    set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map})
endfunction()
