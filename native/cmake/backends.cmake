# Which devices the library can compute on, and how it finds them.
#
# ELIZA_BACKENDS names them: cpu always, and any of vulkan, cuda, metal, rocm. ELIZA_DYNAMIC_BACKENDS builds each as a
# module beside the library, the CPU's in one version for every generation of processors: what a host cannot use stays
# unloaded, so that one package serves hosts old and new, with and without a GPU. Without it, everything is one file
# tuned for the machine that builds it.
set(ELIZA_BACKENDS "cpu" CACHE STRING "cpu, and any of vulkan, cuda, metal, rocm")
option(ELIZA_DYNAMIC_BACKENDS "Backends as modules, with a CPU version for every generation of processors" OFF)

set(known_backends cpu vulkan cuda metal rocm)
foreach(backend IN LISTS ELIZA_BACKENDS)
  if(NOT backend IN_LIST known_backends)
    message(FATAL_ERROR "ELIZA_BACKENDS names '${backend}'; known are ${known_backends}")
  endif()
endforeach()
if(NOT "cpu" IN_LIST ELIZA_BACKENDS)
  message(FATAL_ERROR "ELIZA_BACKENDS must name cpu: the voice and the ears compute there")
endif()
foreach(pair vulkan:VULKAN cuda:CUDA metal:METAL rocm:HIP)
  string(REGEX MATCH "^([a-z]+):([A-Z]+)$" _ "${pair}")
  if("${CMAKE_MATCH_1}" IN_LIST ELIZA_BACKENDS)
    set(GGML_${CMAKE_MATCH_2} ON CACHE BOOL "" FORCE)
  else()
    set(GGML_${CMAKE_MATCH_2} OFF CACHE BOOL "" FORCE)
  endif()
endforeach()
if("metal" IN_LIST ELIZA_BACKENDS)
  set(GGML_METAL_EMBED_LIBRARY ON CACHE BOOL "" FORCE)
endif()

if(ELIZA_DYNAMIC_BACKENDS)
  set(BUILD_SHARED_LIBS ON CACHE BOOL "" FORCE)
  set(GGML_BACKEND_DL ON CACHE BOOL "" FORCE)
  set(GGML_NATIVE OFF CACHE BOOL "" FORCE)
  set(GGML_CPU_ALL_VARIANTS ON CACHE BOOL "" FORCE)
  if(ELIZA_BUILD_TESTS OR ELIZA_SANITIZE_FLAGS)
    message(FATAL_ERROR "the C++ tests look inside of the one-file build; leave ELIZA_DYNAMIC_BACKENDS off for them")
  endif()
else()
  set(BUILD_SHARED_LIBS OFF CACHE BOOL "" FORCE)
  set(GGML_NATIVE ON CACHE BOOL "tune for the building machine; release lanes turn it off")
endif()

# What belongs to the library lies beside it, under names that no other copy of llama.cpp has.
function(eliza_place_siblings)
  if(NOT ELIZA_DYNAMIC_BACKENDS)
    return()
  endif()
  set(origin "$ORIGIN")
  if(APPLE)
    set(origin "@loader_path")
  endif()
  foreach(lib ggml-base ggml llama mtmd llama-common)
    set_property(TARGET ${lib} PROPERTY VERSION)
    set_property(TARGET ${lib} PROPERTY SOVERSION)
    set_target_properties(${lib} PROPERTIES OUTPUT_NAME "eliza-${lib}" INSTALL_RPATH "${origin}"
                                            PUBLIC_HEADER "" PRIVATE_HEADER ""
                                            LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib"
                                            RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
    install(TARGETS ${lib} LIBRARY DESTINATION eliza_native/lib COMPONENT python NAMELINK_SKIP
                           RUNTIME DESTINATION eliza_native/lib COMPONENT python)
  endforeach()
  eliza_backend_modules(modules)
  foreach(module IN LISTS modules)
    set_target_properties(${module} PROPERTIES INSTALL_RPATH "${origin}"
                                               LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib"
                                               RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
    install(TARGETS ${module} LIBRARY DESTINATION eliza_native/lib COMPONENT python
                              RUNTIME DESTINATION eliza_native/lib COMPONENT python)
    add_dependencies(elizainference ${module})
  endforeach()
endfunction()

# ggml's own targets that are modules: one for each device and each generation of processors.
function(eliza_backend_modules out)
  set(found "")
  set(folders "${ELIZA_LLAMA_DIR}/ggml/src")
  foreach(device vulkan cuda metal)
    if("${device}" IN_LIST ELIZA_BACKENDS)
      list(APPEND folders "${ELIZA_LLAMA_DIR}/ggml/src/ggml-${device}")
    endif()
  endforeach()
  if("rocm" IN_LIST ELIZA_BACKENDS)
    list(APPEND folders "${ELIZA_LLAMA_DIR}/ggml/src/ggml-hip")
  endif()
  foreach(folder IN LISTS folders)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      if(type STREQUAL "MODULE_LIBRARY")
        list(APPEND found ${target})
      endif()
    endforeach()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()
