# sources of this room
foreach(source gelu gguf_reader graphs greedy load mel recognizer session vocabulary wanted wide_attention windows)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
