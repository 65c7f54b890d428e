# re2c_target(IN OUT): makes OUT (a full path) from IN.
find_program(RE2C_EXECUTABLE re2c REQUIRED)
function(re2c_target in out)
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${RE2C_EXECUTABLE} -W -Werror --no-generation-date --no-version --utf8
                -o ${out} ${CMAKE_CURRENT_SOURCE_DIR}/${in}
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${in}
        COMMENT "re2c ${in}"
        VERBATIM)
endfunction()
