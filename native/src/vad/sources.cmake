# Voice activity: one small recurrent network, one thread, one prepared graph per handle.
target_sources(eliza_objects PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/detector.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model.cpp)
