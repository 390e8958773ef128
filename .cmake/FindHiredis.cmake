# Finds hiredis and defines the target `hiredis::hiredis`.
#
# Its own package file is another one in each release, and in some it names no target. Sets Hiredis_FOUND and
# Hiredis_VERSION. Point the search elsewhere with Hiredis_INCLUDE_DIR, Hiredis_LIBRARY or CMAKE_PREFIX_PATH.

include(FindPackageHandleStandardArgs)

find_path(Hiredis_INCLUDE_DIR NAMES hiredis/hiredis.h)
find_library(Hiredis_LIBRARY NAMES hiredis)
mark_as_advanced(Hiredis_INCLUDE_DIR Hiredis_LIBRARY)

unset(Hiredis_VERSION)
if(EXISTS "${Hiredis_INCLUDE_DIR}/hiredis/hiredis.h")
    set(Hiredis_VERSION "")
    foreach(part MAJOR MINOR PATCH)
        file(STRINGS "${Hiredis_INCLUDE_DIR}/hiredis/hiredis.h" Hiredis_line REGEX "^#define HIREDIS_${part} +[0-9]+")
        string(REGEX MATCH "[0-9]+" Hiredis_number "${Hiredis_line}")
        string(APPEND Hiredis_VERSION ".${Hiredis_number}")
    endforeach()
    string(SUBSTRING "${Hiredis_VERSION}" 1 -1 Hiredis_VERSION)
endif()

find_package_handle_standard_args(Hiredis
    REQUIRED_VARS Hiredis_LIBRARY Hiredis_INCLUDE_DIR
    VERSION_VAR Hiredis_VERSION)

if(Hiredis_FOUND AND NOT TARGET hiredis::hiredis)
    add_library(hiredis::hiredis UNKNOWN IMPORTED)
    set_target_properties(hiredis::hiredis PROPERTIES
        IMPORTED_LOCATION "${Hiredis_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Hiredis_INCLUDE_DIR}")
endif()
