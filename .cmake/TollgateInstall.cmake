# `find_package(tollgate)` after `cmake --install`. Who needs sqlite, postgres, redis or compiled asks for it in COMPONENTS.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/tollgate")
set(exported tollgate_tollgate)
if(SQLite3_FOUND)
    list(APPEND exported tollgate_sqlite)
endif()
if(PostgreSQL_FOUND)
    list(APPEND exported tollgate_postgres)
endif()
if(Hiredis_FOUND)
    list(APPEND exported tollgate_redis)
endif()
if(TOLLGATE_BUILD_COMPILED)
    set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tollgate")  # no longer the same on every architecture
    list(APPEND exported tollgate_compiled)
    if(SQLite3_FOUND)
        list(APPEND exported tollgate_compiled_sqlite)
    endif()
    if(PostgreSQL_FOUND)
        list(APPEND exported tollgate_compiled_postgres)
    endif()
    if(Hiredis_FOUND)
        list(APPEND exported tollgate_compiled_redis)
    endif()
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tollgate" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp")
install(TARGETS ${exported} EXPORT tollgate ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library)
install(EXPORT tollgate NAMESPACE tollgate:: FILE tollgate-targets.cmake DESTINATION "${package_dir}" COMPONENT library)

configure_package_config_file("${PROJECT_SOURCE_DIR}/.cmake/tollgate-config.cmake.in" tollgate-config.cmake
    INSTALL_DESTINATION "${package_dir}" NO_SET_AND_CHECK_MACRO)
if(TOLLGATE_BUILD_COMPILED)
    write_basic_package_version_file(tollgate-config-version.cmake COMPATIBILITY SameMinorVersion)
else()
    write_basic_package_version_file(tollgate-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
endif()
install(FILES
    "${CMAKE_CURRENT_BINARY_DIR}/tollgate-config.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/tollgate-config-version.cmake"
    "${PROJECT_SOURCE_DIR}/.cmake/FindAsio.cmake"
    "${PROJECT_SOURCE_DIR}/.cmake/FindHiredis.cmake"
    DESTINATION "${package_dir}" COMPONENT library)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT library)

# For build systems other than CMake. Its place, like the headers', is the same on every architecture.
set(pkgconfig_dir "${CMAKE_INSTALL_DATADIR}/pkgconfig")
# An installation can be moved, except for directories that were given as absolute paths.
if(IS_ABSOLUTE "${pkgconfig_dir}")
    set(pkgconfig_prefix "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH prefix_from_pkgconfig "/${pkgconfig_dir}" "/")
    set(pkgconfig_prefix "\${pcfiledir}/${prefix_from_pkgconfig}")
endif()
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pkgconfig_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
else()
    set(pkgconfig_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/.cmake/tollgate.pc.in" tollgate.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/tollgate.pc" DESTINATION "${pkgconfig_dir}" COMPONENT library)
