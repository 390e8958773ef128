# Finds standalone Asio and defines the target `asio::asio`.
#
# Asio ships no package file of its own. Package managers that add one call its target `asio::asio` too, so that a
# target or a package of that name which exists already wins over the search for the bare headers.
#
# Sets Asio_FOUND and Asio_VERSION. Point the search elsewhere with Asio_INCLUDE_DIR or CMAKE_PREFIX_PATH.

include(FindPackageHandleStandardArgs)

if(NOT TARGET asio::asio)
    find_package(asio CONFIG QUIET)
endif()

set(Asio_required Asio_INCLUDE_DIR)
if(TARGET asio::asio)
    # It may have no directory of its own: the headers are in that of a library that it links, or where the compiler looks anyway.
    # Its version is then unknown.
    set(Asio_required Asio_TARGET)
    set(Asio_TARGET asio::asio)
    set(Asio_INCLUDE_DIR "")
    get_target_property(Asio_directories asio::asio INTERFACE_INCLUDE_DIRECTORIES)
    if(Asio_directories)
        list(GET Asio_directories 0 Asio_INCLUDE_DIR)
    endif()
else()
    find_path(Asio_INCLUDE_DIR NAMES asio/version.hpp)
    mark_as_advanced(Asio_INCLUDE_DIR)
endif()

unset(Asio_VERSION)
if(EXISTS "${Asio_INCLUDE_DIR}/asio/version.hpp")
    # 102201 is 1.22.1.
    file(STRINGS "${Asio_INCLUDE_DIR}/asio/version.hpp" Asio_version_line REGEX "^#define ASIO_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" Asio_version_number "${Asio_version_line}")
    math(EXPR Asio_version_major "${Asio_version_number} / 100000")
    math(EXPR Asio_version_minor "${Asio_version_number} / 100 % 1000")
    math(EXPR Asio_version_patch "${Asio_version_number} % 100")
    set(Asio_VERSION "${Asio_version_major}.${Asio_version_minor}.${Asio_version_patch}")
endif()

find_package_handle_standard_args(Asio
    REQUIRED_VARS ${Asio_required}
    VERSION_VAR Asio_VERSION
    REASON_FAILURE_MESSAGE "Install standalone Asio (Debian: libasio-dev), or set TOLLGATE_FETCH_DEPENDENCIES=ON.")

if(Asio_FOUND AND NOT TARGET asio::asio)
    add_library(asio::asio INTERFACE IMPORTED)
    target_include_directories(asio::asio INTERFACE "${Asio_INCLUDE_DIR}")
endif()
