# find_package(tilecc) gives tilecc::tilecc (the compiler), tilecc::tile (the runtime) and tilecc::tile_source
# (lets the runtime load .tile source by the compiler).
include(${CMAKE_CURRENT_LIST_DIR}/tilecc-targets.cmake)
