#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace tollgate_test {

/// Waits until `holds` is true, for an action of another thread, process or server; false if it does not happen in time. The
/// bound is for failing tests: the result of a passing test does not depend on it.
inline bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds within = std::chrono::seconds{60}) {
    for (const auto end = std::chrono::steady_clock::now() + within; !holds();) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    return true;
}

}  // namespace tollgate_test
