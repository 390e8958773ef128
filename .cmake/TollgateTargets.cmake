# tollgate::tollgate          the library, header-only
# tollgate::sqlite            the same with the SQLite store
# tollgate::postgres          the same with the PostgreSQL store
# tollgate::redis             the same with limits in Redis
# tollgate::compiled          the library with its bodies compiled once, for programs of many translation units
# tollgate::compiled_sqlite   the same with the SQLite store
# tollgate::compiled_postgres the same with the PostgreSQL store
# tollgate::compiled_redis    the same with limits in Redis

include(GNUInstallDirs)

add_library(tollgate_tollgate INTERFACE)
add_library(tollgate::tollgate ALIAS tollgate_tollgate)
set_target_properties(tollgate_tollgate PROPERTIES EXPORT_NAME tollgate)
target_compile_features(tollgate_tollgate INTERFACE cxx_std_20)
target_include_directories(tollgate_tollgate INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_link_libraries(tollgate_tollgate INTERFACE
    asio::asio nlohmann_json::nlohmann_json OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

# The bodies of a compiled target come from one header; it is built only when something links it, or with TOLLGATE_BUILD_COMPILED.
function(tollgate_add_compiled name bodies)
    file(CONFIGURE OUTPUT "${name}.cpp" CONTENT "#include <${bodies}>\n" @ONLY)
    add_library(tollgate_${name} STATIC "${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp")
    add_library(tollgate::${name} ALIAS tollgate_${name})
    set_target_properties(tollgate_${name} PROPERTIES
        EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
    if(NOT TOLLGATE_BUILD_COMPILED)
        set_target_properties(tollgate_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    target_compile_definitions(tollgate_${name} PUBLIC TOLLGATE_SEPARATE_COMPILATION)
endfunction()

tollgate_add_compiled(compiled "tollgate/impl/src.hpp")
target_link_libraries(tollgate_compiled PUBLIC tollgate_tollgate)
# Compiled once, they do not slow down a program that leaves them out.
target_compile_definitions(tollgate_compiled PRIVATE TOLLGATE_WITH_ASIO TOLLGATE_WITH_DISPATCHER)

# tollgate::<name>, which adds the headers that need another library and sets their switch of the umbrella, and
# tollgate::compiled_<name>.
function(tollgate_add_backend name library)
    string(TOUPPER "TOLLGATE_WITH_${name}" switch)
    add_library(tollgate_${name} INTERFACE)
    add_library(tollgate::${name} ALIAS tollgate_${name})
    set_target_properties(tollgate_${name} PROPERTIES EXPORT_NAME ${name})
    target_compile_definitions(tollgate_${name} INTERFACE ${switch})
    target_link_libraries(tollgate_${name} INTERFACE tollgate_tollgate ${library})

    tollgate_add_compiled(compiled_${name} "tollgate/impl/detail/src_${name}.hpp")
    target_link_libraries(tollgate_compiled_${name} PUBLIC tollgate_compiled tollgate_${name})
endfunction()

if(SQLite3_FOUND)
    tollgate_add_backend(sqlite SQLite::SQLite3)
endif()
if(PostgreSQL_FOUND)
    tollgate_add_backend(postgres PostgreSQL::PostgreSQL)
endif()
if(Hiredis_FOUND)
    tollgate_add_backend(redis hiredis::hiredis)
endif()
