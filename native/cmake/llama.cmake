# One llama.cpp, one ggml: the tree that ELIZA_LLAMA_CPP_DIR names, else the one that llama.cpp.pin names.
file(STRINGS "${CMAKE_CURRENT_SOURCE_DIR}/llama.cpp.pin" pin_lines REGEX "=")
foreach(line IN LISTS pin_lines)
  string(REGEX MATCH "^([a-z0-9_]+)=(.*)$" _ "${line}")
  set(pin_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/llama.cpp.pin")

if(DEFINED ENV{ELIZA_LLAMA_CPP_DIR} AND NOT ELIZA_LLAMA_CPP_DIR)
  set(ELIZA_LLAMA_CPP_DIR "$ENV{ELIZA_LLAMA_CPP_DIR}")
endif()
if(ELIZA_LLAMA_CPP_DIR)
  get_filename_component(ELIZA_LLAMA_DIR "${ELIZA_LLAMA_CPP_DIR}" ABSOLUTE)
  set(ELIZA_LLAMA_COMMIT "named-tree")
  if(NOT EXISTS "${ELIZA_LLAMA_DIR}/CMakeLists.txt")
    message(FATAL_ERROR "ELIZA_LLAMA_CPP_DIR is '${ELIZA_LLAMA_DIR}', which holds no llama.cpp tree")
  endif()
else()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  execute_process(COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/cmake/fetch_llama.py"
                          "${CMAKE_CURRENT_SOURCE_DIR}/llama.cpp.pin"
                  OUTPUT_VARIABLE ELIZA_LLAMA_DIR OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE fetched)
  if(NOT fetched EQUAL 0)
    message(FATAL_ERROR "the pinned llama.cpp sources could not be fetched; see the lines above")
  endif()
  set(ELIZA_LLAMA_COMMIT "${pin_commit}")
endif()

# A second ggml in the process is a contract breach (contract section 4), so it stops the build here.
if(TARGET ggml)
  message(FATAL_ERROR "another ggml is already part of this build; Eliza-1 allows exactly one")
endif()
if(LLAMA_USE_SYSTEM_GGML)
  message(FATAL_ERROR "LLAMA_USE_SYSTEM_GGML brings a second ggml; Eliza-1 builds the pinned one")
endif()
file(STRINGS "${ELIZA_LLAMA_DIR}/ggml/CMakeLists.txt" ggml_lines REGEX "GGML_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
set(ELIZA_GGML_VERSION "")
foreach(line IN LISTS ggml_lines)
  string(REGEX MATCH "[0-9]+\\)" number "${line}")
  string(REPLACE ")" "" number "${number}")
  list(APPEND ELIZA_GGML_VERSION "${number}")
endforeach()
string(REPLACE ";" "." ELIZA_GGML_VERSION "${ELIZA_GGML_VERSION}")
if(NOT ELIZA_LLAMA_CPP_DIR AND NOT ELIZA_GGML_VERSION STREQUAL pin_ggml)
  message(FATAL_ERROR "the llama.cpp tree carries ggml ${ELIZA_GGML_VERSION}, the pin says ${pin_ggml}")
endif()
message(STATUS "llama.cpp ${ELIZA_LLAMA_COMMIT}, ggml ${ELIZA_GGML_VERSION}: ${ELIZA_LLAMA_DIR}")

# One set of options: a changed set misses nearly all of the compiler cache.
set(GGML_CCACHE OFF CACHE BOOL "" FORCE)
set(GGML_OPENMP ON CACHE BOOL "")
set(LLAMA_BUILD_COMMON ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_MTMD ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_NUMBER "${pin_build_number}" CACHE STRING "" FORCE)
set(LLAMA_BUILD_COMMIT "${ELIZA_LLAMA_COMMIT}" CACHE STRING "" FORCE)
foreach(off TESTS EXAMPLES TOOLS SERVER APP UI)
  set(LLAMA_BUILD_${off} OFF CACHE BOOL "" FORCE)
endforeach()
foreach(off LLAMA_USE_PREBUILT_UI LLAMA_OPENSSL LLAMA_SUBPROCESS LLAMA_TOOLS_INSTALL MTMD_VIDEO)
  set(${off} OFF CACHE BOOL "" FORCE)
endforeach()
# A failed assertion leaves the runtime as an exception (src/abi/assert_shield.h), through its C code too.
if(NOT MSVC)
  add_compile_options($<$<COMPILE_LANGUAGE:C>:-fexceptions>)
endif()
add_subdirectory("${ELIZA_LLAMA_DIR}" llama.cpp EXCLUDE_FROM_ALL)
eliza_watch_ggml()

if("vulkan" IN_LIST ELIZA_BACKENDS AND NOT MSVC)
  set_property(SOURCE "${ELIZA_LLAMA_DIR}/ggml/src/ggml-vulkan/ggml-vulkan.cpp" TARGET_DIRECTORY ggml-vulkan
               APPEND PROPERTY COMPILE_OPTIONS -include "${CMAKE_CURRENT_SOURCE_DIR}/cmake/vulkan_layer_settings.h")
endif()

if(NOT MSVC)
  set_property(SOURCE "${ELIZA_LLAMA_DIR}/src/llama-grammar.cpp" DIRECTORY "${ELIZA_LLAMA_DIR}/src"
               APPEND PROPERTY COMPILE_OPTIONS -include "${CMAKE_CURRENT_SOURCE_DIR}/cmake/quiet_grammar.h")
endif()

# GCC's tile configuration intrinsic needs a correct twin on CPUs with AMX; the header says why.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_property(SOURCE "${ELIZA_LLAMA_DIR}/ggml/src/ggml-cpu/amx/mmq.cpp" DIRECTORY "${ELIZA_LLAMA_DIR}/ggml/src"
               APPEND PROPERTY COMPILE_OPTIONS -include "${CMAKE_CURRENT_SOURCE_DIR}/cmake/amx_tile_config.h")
endif()
