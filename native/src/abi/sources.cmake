# The C border: one file per family.
target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/version.cpp)
target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/hearing.cpp)
