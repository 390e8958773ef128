# What tests/ and examples/ declare tests with.

set(TOLLGATE_TEST_PREFIX "" CACHE STRING "Put before each name in ctest, to tell build directories apart")
option(TOLLGATE_TEST_FULL "Include the tests that take long and seldom fail" ON)
option(TOLLGATE_TEST_UNITY "Compile several test files at once: a third of the time for all, more for one" OFF)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Sets `variable` to what is compiled for the test files: with TOLLGATE_TEST_UNITY, the units that support/test_units.py writes.
function(tollgate_test_units variable target)
    set(units ${ARGN})
    if(TOLLGATE_TEST_UNITY)
        execute_process(
            COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tests/support/test_units.py"
                "${CMAKE_CURRENT_BINARY_DIR}/${target}_units" ${ARGN}
            OUTPUT_VARIABLE units OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
        string(REPLACE "\n" ";" units "${units}")
        # An edit may change what a unit includes.
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
    endif()
    set(${variable} ${units} PARENT_SCOPE)
endfunction()

# tollgate_add_test(NAME COMMAND word... [TIMEOUT seconds] [PROCESSORS count] [LABELS label...])
#
# add_test with a timeout, and with sanitizers that end the program at their first finding.
function(tollgate_add_test name)
    cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT;PROCESSORS" "COMMAND;LABELS")
    if(NOT test_TIMEOUT)
        set(test_TIMEOUT 120)
    endif()
    if(TOLLGATE_SANITIZE)
        math(EXPR test_TIMEOUT "${test_TIMEOUT} * 3")
    endif()
    if(NOT test_PROCESSORS)
        set(test_PROCESSORS 1)
    endif()
    set(environment
        "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1"
        "UBSAN_OPTIONS=print_stacktrace=1"
        # Tests fork processes with threads, and a child starts threads of its own.
        "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0"
        "PYTHONDONTWRITEBYTECODE=1")
    set(test_name "${TOLLGATE_TEST_PREFIX}${name}")
    add_test(NAME "${test_name}" COMMAND ${test_COMMAND} COMMAND_EXPAND_LISTS)
    # Those that may take longest are started first: at the end they would run one by one.
    set_tests_properties("${test_name}" PROPERTIES COST ${test_TIMEOUT}
        TIMEOUT ${test_TIMEOUT} PROCESSORS ${test_PROCESSORS} LABELS "${test_LABELS}" ENVIRONMENT "${environment}")
endfunction()

# tollgate_add_script_test(NAME SCRIPT [ARGUMENTS word...] [as above]): a Python script, run from the project's root.
function(tollgate_add_script_test name script)
    cmake_parse_arguments(PARSE_ARGV 2 test "" "TIMEOUT;PROCESSORS" "ARGUMENTS;LABELS")
    set(given "")
    foreach(keyword TIMEOUT PROCESSORS)
        if(test_${keyword})
            list(APPEND given ${keyword} ${test_${keyword}})
        endif()
    endforeach()
    tollgate_add_test(${name}
        COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/${script}" ${test_ARGUMENTS}
        ${given} LABELS ${test_LABELS})
    set_tests_properties("${TOLLGATE_TEST_PREFIX}${name}" PROPERTIES WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
endfunction()

# The arguments of a script that calls the compiler.
set(TOLLGATE_COMPILER_ARGUMENTS
    --compiler "${CMAKE_CXX_COMPILER}"
    --includes "$<JOIN:$<TARGET_PROPERTY:tollgate_tollgate,INTERFACE_INCLUDE_DIRECTORIES>,:>")
