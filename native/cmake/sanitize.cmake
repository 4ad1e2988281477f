# What watches our code while the tests run.
set(ELIZA_SANITIZE_FLAGS "")
if(ELIZA_SANITIZE_THREADS AND (ELIZA_SANITIZE OR ELIZA_FUZZ))
  message(FATAL_ERROR "ELIZA_SANITIZE_THREADS cannot watch the same build as ELIZA_SANITIZE or ELIZA_FUZZ")
endif()
if(ELIZA_FUZZ)
  # the fuzzer learns from every branch that is watched, so the readers themselves carry its marks
  set(ELIZA_SANITIZE_FLAGS -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
elseif(ELIZA_SANITIZE)
  set(ELIZA_SANITIZE_FLAGS -fsanitize=address,undefined)
elseif(ELIZA_SANITIZE_THREADS)
  set(ELIZA_SANITIZE_FLAGS -fsanitize=thread)
  # A race is seen only between threads whose meeting points are watched too. OpenMP's are not, ggml's own are.
  set(GGML_OPENMP OFF CACHE BOOL "" FORCE)
endif()

function(eliza_watch_ggml)
  if(ELIZA_SANITIZE_THREADS)
    foreach(lib ggml-base ggml-cpu ggml)
      target_compile_options(${lib} PRIVATE ${ELIZA_SANITIZE_FLAGS} -g)
    endforeach()
  elseif(ELIZA_FUZZ)  # its reader of GGUF headers
    target_compile_options(ggml-base PRIVATE -fsanitize=fuzzer-no-link,address -g)
  endif()
endfunction()
