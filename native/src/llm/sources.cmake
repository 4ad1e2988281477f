# The text stream over llama.cpp: speculative decoding, memory beyond a stream, and the questions that write nothing.
foreach(source checkpoints cpu_backend draft_model drafter embedder end_of_turn ggml_types gguf_facts gguf_header grammar_check host_memory
               kernel_proof kv_types prompt_cache runtime sampler slot slot_file state_place stream_settings text_model
               text_stream text_stream_media text_header text_stream_slots threads tokens turn_form utf8)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
