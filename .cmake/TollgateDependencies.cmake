# What the library stands on. Installed packages come first; TOLLGATE_FETCH_DEPENDENCIES is for machines without them.

set(TOLLGATE_ASIO_REPOSITORY "https://github.com/chriskohlhoff/asio.git" CACHE STRING "Where to fetch Asio")
set(TOLLGATE_ASIO_TAG "asio-1-30-2" CACHE STRING "Which Asio to fetch")
set(TOLLGATE_JSON_REPOSITORY "https://github.com/nlohmann/json.git" CACHE STRING "Where to fetch nlohmann/json")
set(TOLLGATE_JSON_TAG "v3.11.3" CACHE STRING "Which nlohmann/json to fetch")
mark_as_advanced(TOLLGATE_ASIO_REPOSITORY TOLLGATE_ASIO_TAG TOLLGATE_JSON_REPOSITORY TOLLGATE_JSON_TAG)

# Asio and hiredis are found by the modules beside this file, also where CMAKE_FIND_PACKAGE_PREFER_CONFIG is on: the package files that some
# systems have name no target.

# A program that takes us in with add_subdirectory links our targets from above: what they need must be seen there too.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)

# Both are nothing but headers: their own build files are left alone, so that they add no target, test or install rule.
function(tollgate_fetch_headers name target include_dir repository tag)
    include(FetchContent)
    FetchContent_Declare(${name}
        GIT_REPOSITORY "${repository}" GIT_TAG "${tag}" GIT_SHALLOW ON SOURCE_SUBDIR "no-build-file-here")
    FetchContent_MakeAvailable(${name})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} INTERFACE "${${name}_SOURCE_DIR}/${include_dir}")
endfunction()

if(TOLLGATE_FETCH_DEPENDENCIES)
    find_package(Asio 1.22 MODULE QUIET)
    if(NOT Asio_FOUND)
        tollgate_fetch_headers(tollgate_fetched_asio asio::asio asio/include
            "${TOLLGATE_ASIO_REPOSITORY}" "${TOLLGATE_ASIO_TAG}")
    endif()
    if(NOT TARGET nlohmann_json::nlohmann_json)
        find_package(nlohmann_json 3.11 CONFIG QUIET)
    endif()
    if(NOT TARGET nlohmann_json::nlohmann_json)
        tollgate_fetch_headers(tollgate_fetched_json nlohmann_json::nlohmann_json include
            "${TOLLGATE_JSON_REPOSITORY}" "${TOLLGATE_JSON_TAG}")
    endif()
else()
    find_package(Asio 1.22 MODULE REQUIRED)
    if(NOT TARGET nlohmann_json::nlohmann_json)
        find_package(nlohmann_json 3.11 CONFIG REQUIRED)
    endif()
endif()

find_package(OpenSSL 3.0 REQUIRED)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# Only tollgate::sqlite needs it; without it that target does not exist.
find_package(SQLite3 3.37 QUIET)
# Only tollgate::postgres needs it: libpq has pipelines since 14.
find_package(PostgreSQL 14 QUIET)
# Only tollgate::redis needs it.
find_package(Hiredis 0.14 MODULE QUIET)
