# Speech recognition: the files, the rate, the words; the engines have rooms of their own.
foreach(source find_models mtmd_recognizer open_recognizer resample wanted_language windows words)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
