# find_package(tilecc) gives tilecc::tilecc (the compiler), tilecc::tile (the runtime), tilecc::tile_source (lets the runtime load
# .tile source by the compiler), tilecc::program (the command line), and the functions tile_add_kernels() and tile_add_test().
cmake_policy(PUSH)
cmake_policy(VERSION 3.20...3.31) # paths in depfiles; the functions have the policies that hold where they are defined
include(${CMAKE_CURRENT_LIST_DIR}/tilecc-targets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/tilecc-functions.cmake)
cmake_policy(POP)
