# Where a bundle keeps what.
target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/bundle_dir.cpp ${CMAKE_CURRENT_LIST_DIR}/voice_preset.cpp)
