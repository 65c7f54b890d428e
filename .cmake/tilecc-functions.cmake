# Kernels in a project of CMake; find_package(tilecc) includes this.

# tile_add_kernels(TARGET <target> SOURCES <file.tile>... [ARCH <target of tilecc>...] [DEFINES <[kernel.]name=value>...]
#                  [IMPORT_DIRS <folder>...] [OPTIONS <option of tilecc>...] [PREFIX <prefix>])
#
# Compiles each file for each ARCH (none: the one that the file says) to a .c and a .h of its name (tilecc --emit=c), which become sources of
# the target: #include "file.h". It is linked with libtile. What a file imports is a dependency, too, and so is its tune file, also one that
# is made later. A module of the library that is built in may stand among the files: std.rows is rows.h. Paths are relative to the current
# source folder. Options may be generator expressions; those that become empty are left out.
# Once a file that was imported, or a tune file, is removed, Makefiles of CMake 3.25 compile at each build, until the build folder is made anew; Ninja and
# newer CMakes once, as they should.
#
# All names of C begin with that of the file; PREFIX a_ makes a/copy.tile to a_copy.h, so that b/copy.tile may be linked with it. Two in one target are
# refused here, and where a target links libraries that have them (CMake then says that TILE_KERNELS_copy does not match, or agree): the linker would
# take one for both. CMake does not see that of libraries that archives link as PRIVATE.
function(tile_add_kernels)
    tile_arguments(tile_add_kernels "" "TARGET;PREFIX" "SOURCES;ARCH;DEFINES;IMPORT_DIRS;OPTIONS" TARGET SOURCES -- ${ARGN})
    if(NOT TARGET ${arg_TARGET})
        message(FATAL_ERROR "tile_add_kernels: there is no target `${arg_TARGET}`")
    endif()
    get_target_property(aliased ${arg_TARGET} ALIASED_TARGET)
    if(aliased)
        set(arg_TARGET ${aliased})
    endif()
    get_target_property(home ${arg_TARGET} SOURCE_DIR)
    get_target_property(imported ${arg_TARGET} IMPORTED)
    if(NOT imported AND NOT home STREQUAL CMAKE_CURRENT_SOURCE_DIR) # what builds its sources would not know how they are made
        message(FATAL_ERROR "tile_add_kernels: target `${arg_TARGET}` is of `${home}`, and gets its kernels there")
    endif()
    set(options ${arg_OPTIONS})
    if(arg_ARCH)
        list(JOIN arg_ARCH "," arch)
        list(APPEND options -arch=${arch})
    endif()
    foreach(define IN LISTS arg_DEFINES)
        list(APPEND options -D ${define})
    endforeach()
    tile_import_options(options ${arg_IMPORT_DIRS})
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_kernels)
    file(MAKE_DIRECTORY ${folder})
    foreach(source IN LISTS arg_SOURCES)
        get_filename_component(path "${source}" ABSOLUTE)
        set(depends "${path}")
        get_filename_component(name "${source}" NAME_WLE)
        if(NOT EXISTS "${path}" AND source MATCHES "^std\\.([a-z_.]*\\.)?([a-z_]+)$")
            set(path "${source}")
            set(depends "") # it reads no file
            set(name "${CMAKE_MATCH_2}")
        elseif(NOT EXISTS "${path}")
            get_source_file_property(generated "${path}" GENERATED)
            if(NOT generated)
                message(FATAL_ERROR "tile_add_kernels: there is no file `${path}`")
            endif()
        endif()
        if(depends)
            get_filename_component(tune "${path}" DIRECTORY)
            file(GLOB tune CONFIGURE_DEPENDS "${tune}/${name}.tune")
        endif()
        set(name "${arg_PREFIX}${name}")
        set(out ${folder}/${name})
        if(depends)
            list(APPEND depends ${tune})
            set(rule DEPFILE ${out}.d)
            set(make_rule -MD -MF ${out}.d)
        else()
            set(rule "")
            set(make_rule "")
        endif()
        string(MAKE_C_IDENTIFIER "${name}" symbol) # what their names of C begin with
        get_property(known TARGET ${arg_TARGET} PROPERTY TILE_KERNELS)
        if("${symbol}" IN_LIST known)
            message(FATAL_ERROR "tile_add_kernels: target `${arg_TARGET}` has two files whose functions begin with ${symbol}_: add one of them with PREFIX")
        endif()
        set_property(TARGET ${arg_TARGET} APPEND PROPERTY TILE_KERNELS "${symbol}")
        set_property(TARGET ${arg_TARGET} APPEND PROPERTY COMPATIBLE_INTERFACE_STRING TILE_KERNELS_${symbol})
        string(MD5 made_of "${path} ${options}") # it goes into packages, too
        foreach(property TILE_KERNELS_${symbol} INTERFACE_TILE_KERNELS_${symbol})
            set_property(TARGET ${arg_TARGET} PROPERTY ${property} ${made_of})
        endforeach()
        add_custom_command(
            OUTPUT ${out}.c ${out}.h
            COMMAND tilecc::program --emit=c ${make_rule} ${options} "${path}" -o ${out}.c
            DEPENDS ${depends} tilecc::program tilecc::tilecc # the compiler is the library
            ${rule}
            COMMENT "tilecc ${source}"
            COMMAND_EXPAND_LISTS
            VERBATIM)
        target_sources(${arg_TARGET} PRIVATE ${out}.c ${out}.h)
        set_source_files_properties(${out}.c PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        if(NOT "C" IN_LIST languages)
            set_source_files_properties(${out}.c PROPERTIES LANGUAGE CXX)
        endif()
    endforeach()
    get_target_property(type ${arg_TARGET} TYPE)
    if(imported OR type MATCHES "^(INTERFACE_LIBRARY|UTILITY)$")
        message(FATAL_ERROR "tile_add_kernels: target `${arg_TARGET}` compiles nothing: kernels go into a library or a program of this project")
    endif()
    # As properties: the target's own calls may be with keywords or without.
    foreach(property INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES)
        set_property(TARGET ${arg_TARGET} APPEND PROPERTY ${property} "$<BUILD_INTERFACE:${folder}>")
    endforeach()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
        set_property(TARGET ${arg_TARGET} APPEND PROPERTY ${property} tilecc::tile)
    endforeach()
endfunction()

# tile_add_test(NAME <name> [FOLDER <folder>] [FILES <file.tile>...] [DEVICE <name>] [IMPORT_DIRS <folder>...] [LABELS <label>...]
#               [TIMEOUT <seconds>])
#
# A test of CTest: `tilecc test` on the folder (the current source folder where neither it nor files are named). DEVICE sim: on the
# simulator even where there is a GPU. The files are looked for when the test runs.
function(tile_add_test)
    tile_arguments(tile_add_test "" "NAME;FOLDER;DEVICE;TIMEOUT" "FILES;IMPORT_DIRS;LABELS" NAME -- ${ARGN})
    set(options)
    if(arg_DEVICE)
        list(APPEND options --device=${arg_DEVICE})
    endif()
    tile_import_options(options ${arg_IMPORT_DIRS})
    set(paths)
    if(NOT arg_FOLDER AND NOT arg_FILES)
        set(arg_FOLDER .)
    endif()
    foreach(path IN LISTS arg_FOLDER arg_FILES)
        get_filename_component(absolute "${path}" ABSOLUTE)
        if(NOT EXISTS "${absolute}")
            message(FATAL_ERROR "tile_add_test: there is no `${absolute}`")
        endif()
        list(APPEND paths "${absolute}")
    endforeach()
    add_test(NAME ${arg_NAME} COMMAND tilecc::program test ${options} ${paths})
    if(arg_LABELS)
        set_tests_properties(${arg_NAME} PROPERTIES LABELS "${arg_LABELS}")
    endif()
    if(arg_TIMEOUT)
        set_tests_properties(${arg_NAME} PROPERTIES TIMEOUT ${arg_TIMEOUT})
    endif()
endfunction()

# tile_arguments(<function> <options> <one value> <several> <needed>... -- <arguments>...) sets arg_.. of the caller.
macro(tile_arguments function options one several)
    set(tile_needed ${ARGN})
    list(FIND tile_needed -- tile_end)
    list(SUBLIST tile_needed 0 ${tile_end} tile_needed)
    math(EXPR tile_end "${tile_end} + 1")
    set(tile_given ${ARGN})
    list(SUBLIST tile_given ${tile_end} -1 tile_given)
    cmake_parse_arguments(arg "${options}" "${one}" "${several}" ${tile_given})
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${function}: `${arg_UNPARSED_ARGUMENTS}` is no argument of it")
    endif()
    foreach(tile_word IN LISTS tile_needed)
        if("${arg_${tile_word}}" STREQUAL "") # a target may be called n, which is false
            message(FATAL_ERROR "${function}: ${tile_word} is missing")
        endif()
    endforeach()
endmacro()

function(tile_import_options list)
    set(options ${${list}})
    foreach(folder IN LISTS ARGN)
        get_filename_component(absolute "${folder}" ABSOLUTE)
        list(APPEND options -I "${absolute}")
    endforeach()
    set(${list} ${options} PARENT_SCOPE)
endfunction()
