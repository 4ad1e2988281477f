# An encoder-decoder that listens to windows of 30 seconds.
foreach(source gelu gguf_reader graphs greedy load mel recognizer session silence vocabulary wanted wide_attention)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
