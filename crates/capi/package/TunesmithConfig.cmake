# Targets of the installed library: Tunesmith::tunesmith (shared) and Tunesmith::tunesmith_static.
get_filename_component(_tunesmith_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET Tunesmith::tunesmith)
  add_library(Tunesmith::tunesmith SHARED IMPORTED)
  set_target_properties(Tunesmith::tunesmith PROPERTIES
    IMPORTED_LOCATION "${_tunesmith_prefix}/lib/libtunesmith.so"
    IMPORTED_SONAME "libtunesmith.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_tunesmith_prefix}/include")

  add_library(Tunesmith::tunesmith_static STATIC IMPORTED)
  set_target_properties(Tunesmith::tunesmith_static PROPERTIES
    IMPORTED_LOCATION "${_tunesmith_prefix}/lib/libtunesmith.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_tunesmith_prefix}/include"
    INTERFACE_LINK_LIBRARIES "gcc_s;util;rt;pthread;m;dl")
endif()

unset(_tunesmith_prefix)
