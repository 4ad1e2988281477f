# Speech recognition: the files, the rate, the words; the engines have rooms of their own.
foreach(source find_models open_recognizer resample words)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
