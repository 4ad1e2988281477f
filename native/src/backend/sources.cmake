# The seam under the text stream, and llama.cpp below it.
foreach(source llama_backend registry selector)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
