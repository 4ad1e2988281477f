# sources of this room
foreach(source builder crew kernels model node ops_lstm ops_signal ops_source phonemes speech_graph text_graph tile_conv voice wanted)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
