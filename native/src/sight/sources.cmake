# Pictures and sound for a text model, through llama.cpp's mtmd.
foreach(source picture projector projector_facts projector_needs prompt)
  target_sources(eliza_objects PRIVATE ${CMAKE_CURRENT_LIST_DIR}/${source}.cpp)
endforeach()
