# Only eliza_* leaves the library: llama.cpp and ggml inside it can never clash with another copy.
function(eliza_only_exports_eliza target)
  if(APPLE)
    target_link_options(${target} PRIVATE "-Wl,-exported_symbols_list,${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.apple")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "@loader_path")
  elseif(UNIX)
    target_link_options(${target} PRIVATE
      "-Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map" "-Wl,--no-undefined" "-Wl,--gc-sections")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN"
      LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.map")
  endif()
  # Windows exports what the header marks __declspec(dllexport), and nothing else.
endfunction()
