// A part of every C++ test program: a guard that ends a run which makes no progress. Catch's library has the entry point.

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include <support/stall_guard.hpp>

#include <optional>

namespace {

/// Reports to the guard what runs; a section or a generated value of a test case counts as progress, too.
struct progress_listener : Catch::TestEventListenerBase {
    using TestEventListenerBase::TestEventListenerBase;

    void testRunStarting(const Catch::TestRunInfo& run) override {
        TestEventListenerBase::testRunStarting(run);
        guard_.emplace();
    }
    void testCaseStarting(const Catch::TestCaseInfo& test) override {
        TestEventListenerBase::testCaseStarting(test);
        tollgate_test::stall_guard::progress(test.name);
    }
    void sectionStarting(const Catch::SectionInfo& section) override {
        TestEventListenerBase::sectionStarting(section);
        tollgate_test::stall_guard::progress(section.name);
    }

private:
    std::optional<tollgate_test::stall_guard> guard_;
};

}  // namespace

CATCH_REGISTER_LISTENER(progress_listener)
