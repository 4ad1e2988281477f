# The text stream over llama.cpp, with speculative decoding.
foreach(source draft_model drafter gguf_facts kv_types runtime sampler stream_settings text_model text_stream threads tokens turn_form utf8)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
