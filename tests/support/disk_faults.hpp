#pragma once

#include <tollgate/store/sqlite.hpp>
#include <tollgate/testing/detail/expect.hpp>

#include <support/faulty_vfs.hpp>
#include <support/sqlite_file.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>

#include <sys/resource.h>

namespace tollgate_test {

/// No file of this process can grow beyond this size, as on a full disk; without a size, that ends.
inline void limit_file_size(std::optional<rlim_t> bytes) {
    std::signal(SIGXFSZ, SIG_IGN);  // so that a write fails, and the process continues
    rlimit bound{};
    ::getrlimit(RLIMIT_FSIZE, &bound);
    bound.rlim_cur = bytes.value_or(bound.rlim_max);
    ::setrlimit(RLIMIT_FSIZE, &bound);
}

/// The effect of a verb: complete, none, or (nullopt) partial.
using progress = std::optional<bool>;

inline progress all_or_nothing(std::initializer_list<bool> parts) {
    const auto done = std::count(parts.begin(), parts.end(), true);
    if (done == 0) return false;
    return done == static_cast<std::ptrdiff_t>(parts.size()) ? progress{true} : std::nullopt;
}

/// Calls a verb on a disk that fails at its nth change with `code`, for n = 0, 1, 2, ..., on a new file each time, until the
/// verb succeeds. Its effect is complete or none, as it reports, and it succeeds when it is repeated on a working disk.
///
/// `make(path, settings)` returns the object of the verb, `act(object)` is the verb and returns a `result<void>`, and
/// `done(object)` returns its effect. `check_file(path)` inspects the file afterwards.
template <class Make, class Act, class Done, class CheckFile>
void fail_each_disk_change(int code, Make make, Act act, Done done, CheckFile check_file) {
    temporary_directory directory;
    for (long n = 0;; ++n) {
        REQUIRE(n < 100);
        CAPTURE(n);
        faulty_vfs vfs;
        tollgate::sqlite_settings settings;
        settings.vfs = vfs.name();
        const auto path = directory.file(std::to_string(n) + ".db");
        create_sqlite_file(path);
        bool was_done = false;
        {
            auto object = make(path, settings);
            REQUIRE(done(object) == progress{false});
            vfs.fail_after(n, code);
            const tollgate::result<void> acted = act(object);
            was_done = acted.has_value();
            if (!acted) {
                CHECK(acted.error().kind == tollgate::error_kind::unavailable);
                CHECK_THAT(acted.error().cause, Catch::StartsWith("SQLite: "));
            }
            CHECK(done(object) == progress{was_done});  // reading needs no writable disk
            vfs.heal();
            if (!was_done) {
                tollgate::testing::value_of(act(object));
                CHECK(done(object) == progress{true});
            }
        }
        check_file(path);
        if (was_done) return;
    }
}

}  // namespace tollgate_test
