# tollgate::tollgate          the library, header-only
# tollgate::sqlite            the same with the SQLite store
# tollgate::postgres          the same with the PostgreSQL store
# tollgate::redis             the same with limits in Redis
# tollgate::compiled          the library with its bodies compiled once, for programs of many translation units
# tollgate::compiled_sqlite   the same with the SQLite store
# tollgate::compiled_postgres the same with the PostgreSQL store
# tollgate::compiled_redis    the same with limits in Redis

add_library(tollgate_tollgate INTERFACE)
add_library(tollgate::tollgate ALIAS tollgate_tollgate)
set_target_properties(tollgate_tollgate PROPERTIES EXPORT_NAME tollgate)
target_compile_features(tollgate_tollgate INTERFACE cxx_std_20)
target_include_directories(tollgate_tollgate INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:include>")
target_link_libraries(tollgate_tollgate INTERFACE
    asio::asio nlohmann_json::nlohmann_json OpenSSL::SSL OpenSSL::Crypto Threads::Threads)

# The bodies of a compiled target come from one header; it is built only for those who link it, unless told otherwise.
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
# Compiled once, they cost nobody anything.
target_compile_definitions(tollgate_compiled PRIVATE TOLLGATE_WITH_ASIO TOLLGATE_WITH_DISPATCHER)

if(SQLite3_FOUND)
    add_library(tollgate_sqlite INTERFACE)
    add_library(tollgate::sqlite ALIAS tollgate_sqlite)
    set_target_properties(tollgate_sqlite PROPERTIES EXPORT_NAME sqlite)
    target_compile_definitions(tollgate_sqlite INTERFACE TOLLGATE_WITH_SQLITE)
    target_link_libraries(tollgate_sqlite INTERFACE tollgate_tollgate SQLite::SQLite3)

    tollgate_add_compiled(compiled_sqlite "tollgate/impl/src_sqlite.hpp")
    target_link_libraries(tollgate_compiled_sqlite PUBLIC tollgate_compiled tollgate_sqlite)
endif()

if(PostgreSQL_FOUND)
    add_library(tollgate_postgres INTERFACE)
    add_library(tollgate::postgres ALIAS tollgate_postgres)
    set_target_properties(tollgate_postgres PROPERTIES EXPORT_NAME postgres)
    target_compile_definitions(tollgate_postgres INTERFACE TOLLGATE_WITH_POSTGRES)
    target_link_libraries(tollgate_postgres INTERFACE tollgate_tollgate PostgreSQL::PostgreSQL)

    tollgate_add_compiled(compiled_postgres "tollgate/impl/src_postgres.hpp")
    target_link_libraries(tollgate_compiled_postgres PUBLIC tollgate_compiled tollgate_postgres)
endif()

if(Hiredis_FOUND)
    add_library(tollgate_redis INTERFACE)
    add_library(tollgate::redis ALIAS tollgate_redis)
    set_target_properties(tollgate_redis PROPERTIES EXPORT_NAME redis)
    target_compile_definitions(tollgate_redis INTERFACE TOLLGATE_WITH_REDIS)
    target_link_libraries(tollgate_redis INTERFACE tollgate_tollgate hiredis::hiredis)

    tollgate_add_compiled(compiled_redis "tollgate/impl/src_redis.hpp")
    target_link_libraries(tollgate_compiled_redis PUBLIC tollgate_compiled tollgate_redis)
endif()
