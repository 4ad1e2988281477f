# ccache turns the five minutes of llama.cpp into seconds. Paths below our checkout are made relative,
# so that a second clone hits too.
find_program(ELIZA_CCACHE ccache)
if(ELIZA_CCACHE)
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
               "${ELIZA_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
