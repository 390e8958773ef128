# An overlay port of the checkout that it is in: vcpkg install tollgate --overlay-ports=.packaging/vcpkg
# For a registry, replace the next line by vcpkg_from_git or vcpkg_from_github.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

# What a feature does not ask for must not be found by accident.
vcpkg_check_features(OUT_FEATURE_OPTIONS options
    FEATURES
        compiled TOLLGATE_BUILD_COMPILED
    INVERTED_FEATURES
        sqlite CMAKE_DISABLE_FIND_PACKAGE_SQLite3
        postgres CMAKE_DISABLE_FIND_PACKAGE_PostgreSQL
        redis CMAKE_DISABLE_FIND_PACKAGE_Hiredis)

if("compiled" IN_LIST FEATURES)
    vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
    set(package lib/cmake/tollgate)
else()
    set(VCPKG_BUILD_TYPE release)  # headers are the same for all
    set(package share/cmake/tollgate)
endif()
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${options})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME tollgate CONFIG_PATH "${package}")
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/share/doc")
if(NOT "compiled" IN_LIST FEATURES)
    file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib")
endif()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
