# ccache turns the five minutes of llama.cpp into seconds. Paths below our checkout are made relative,
# so that a second clone hits too.
find_program(ELIZA_CCACHE ccache)
if(ELIZA_CCACHE)
  # the build folder may lie beside native/, and its generated headers are on every include path
  get_filename_component(checkout "${CMAKE_CURRENT_SOURCE_DIR}" DIRECTORY)
  set(launcher "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${checkout}" CCACHE_NOHASHDIR=1
               "${ELIZA_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
