// The entry point of every C++ test program: Catch's runner, and a guard that ends a run which makes no progress.

#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <support/stall_guard.hpp>

namespace {

/// Reports to the guard what runs; a section or a generated value of a test case counts as progress, too.
struct progress_listener : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;

    void testCaseStarting(const Catch::TestCaseInfo& test) override {
        TestEventListenerBase::testCaseStarting(test);
        tollgate_test::stall_guard::progress(test.name);
    }
    void sectionStarting(const Catch::SectionInfo& section) override {
        TestEventListenerBase::sectionStarting(section);
        tollgate_test::stall_guard::progress(section.name);
    }
};

}  // namespace

CATCH_REGISTER_LISTENER(progress_listener)

int main(int count, char** arguments) {
    const tollgate_test::stall_guard guard;
    return Catch::Session().run(count, arguments);
}
