# Runs a portfile without vcpkg: the functions that it calls do here, with plain CMake, what the documentation of vcpkg says.
#
#     cmake -D PORTFILE=F -D FEATURES=sqlite -D CURRENT_PACKAGES_DIR=D -D BUILD_DIR=D -D COMPILER=C -P run_portfile.cmake

cmake_minimum_required(VERSION 3.25)
set(PORT tollgate)

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_check_features)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" OUT_FEATURE_OPTIONS "FEATURES;INVERTED_FEATURES")
    set(options "")
    foreach(list IN ITEMS FEATURES INVERTED_FEATURES)
        while(arg_${list})
            list(POP_FRONT arg_${list} feature option)
            if(feature IN_LIST FEATURES AND list STREQUAL "FEATURES" OR NOT feature IN_LIST FEATURES AND list STREQUAL "INVERTED_FEATURES")
                list(APPEND options "-D${option}=ON")
            else()
                list(APPEND options "-D${option}=OFF")
            endif()
        endwhile()
    endforeach()
    set(${arg_OUT_FEATURE_OPTIONS} "${options}" PARENT_SCOPE)
endfunction()

function(vcpkg_check_linkage)
    if(NOT "${ARGV}" STREQUAL "ONLY_STATIC_LIBRARY")
        message(FATAL_ERROR "vcpkg_check_linkage(${ARGV}): the library is static")
    endif()
endfunction()

# Not optimized: this tests the port, and other tests compile a release.
function(vcpkg_cmake_configure)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" SOURCE_PATH OPTIONS)
    run("${CMAKE_COMMAND}" -G Ninja -S "${arg_SOURCE_PATH}" -B "${BUILD_DIR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" ${arg_OPTIONS})
endfunction()

function(vcpkg_cmake_install)
    run("${CMAKE_COMMAND}" --build "${BUILD_DIR}" --target install --parallel 1)
endfunction()

# Moves the CMake package to share/<name>, where it is two folders below the prefix.
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
    set(package "${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}")
    file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
    file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${package}")
    get_filename_component(parent "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" DIRECTORY)
    file(REMOVE_RECURSE "${parent}")
    set(up [[get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)]])
    file(GLOB files "${package}/*.cmake")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(REPLACE "${up}\n${up}\n${up}\n" "${up}\n${up}\n" text "${text}")
        string(REPLACE "{CMAKE_CURRENT_LIST_DIR}/../../../" "{CMAKE_CURRENT_LIST_DIR}/../../" text "${text}")
        file(WRITE "${file}" "${text}")
    endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
    file(GLOB files "${CURRENT_PACKAGES_DIR}/share/pkgconfig/*.pc")
    if(NOT files)
        message(FATAL_ERROR "the port has no pkg-config file")
    endif()
endfunction()

function(vcpkg_install_copyright)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" FILE_LIST)
    file(COPY_FILE "${arg_FILE_LIST}" "${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright")
endfunction()

include("${PORTFILE}")
