# How tests, examples and the server are built. None of them is installed.

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

add_library(tollgate_own_code INTERFACE)
target_compile_options(tollgate_own_code INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wpedantic
    $<$<BOOL:${TOLLGATE_WARNINGS_AS_ERRORS}>:-Werror>)
# An integrator may use what Asio deprecates in the same program; we ourselves must not need it.
# GCC collects garbage above 2 GB only, not from 128 MB on: a sixth less time, but too much memory for small servers that build a release.
if(TOLLGATE_BUILD_TESTS)
    target_compile_options(tollgate_own_code INTERFACE $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=2000000>)
endif()
target_compile_definitions(tollgate_own_code INTERFACE ASIO_NO_DEPRECATED)
target_compile_definitions(tollgate_own_code INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

if(TOLLGATE_SANITIZE)
    # Line tables alone, and under AddressSanitizer no optimizer: Clang takes a third of the time to compile, which is most
    # of what these tests cost. What counts its runs a second (TOLLGATE_OPTIMIZED) is optimized. So is what runs under
    # ThreadSanitizer: otherwise the linker may take the functions of std::shared_ptr from Catch2, where no sanitizer sees them.
    set(usual_optimization -O0)
    if(TOLLGATE_SANITIZE STREQUAL "thread")
        set(usual_optimization -O1)
    endif()
    # UBSan's check of virtual calls opens a pipe, and reports an error where a test leaves no descriptor for one.
    set(sanitizer_options "-fsanitize=${TOLLGATE_SANITIZE}" -fno-sanitize=vptr -fno-sanitize-recover=all)
    target_compile_options(tollgate_own_code INTERFACE ${sanitizer_options} -fno-omit-frame-pointer -g1
        $<IF:$<BOOL:$<TARGET_PROPERTY:TOLLGATE_OPTIMIZED>>,-O1,${usual_optimization}>)
    target_link_options(tollgate_own_code INTERFACE ${sanitizer_options})
endif()

# The library itself has more warnings, for the programs of others.
foreach(compiled tollgate_compiled tollgate_compiled_sqlite tollgate_compiled_postgres tollgate_compiled_redis)
    if(TARGET ${compiled})
        target_link_libraries(${compiled} PRIVATE $<BUILD_INTERFACE:tollgate_own_code>)
        target_compile_options(${compiled} PRIVATE -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
            $<$<CXX_COMPILER_ID:GNU>:-Wuseless-cast>)
    endif()
endforeach()
