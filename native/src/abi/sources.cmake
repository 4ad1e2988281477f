# The C border: one file per family.
file(GLOB abi_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
target_sources(eliza_objects PRIVATE ${abi_sources})
