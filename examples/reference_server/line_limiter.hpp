#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace reference {

/// The kind of a failure, for one count: the beginning of its text, without details, which follow a second colon, have digits, or are in
/// parentheses with such details. `PostgreSQL: permission denied for table x` is another kind than `PostgreSQL: canceling statement due to
/// lock timeout`.
[[nodiscard]] inline std::string_view kind_of_failure(std::string_view text) noexcept {
    constexpr std::size_t bytes_max = 80;
    const auto colon = text.find(':');
    const auto second = colon == std::string_view::npos ? colon : text.find(':', colon + 1);
    const auto kind = text.substr(0, (std::min)({second, text.find_first_of("0123456789"), bytes_max}));
    const auto open = kind.rfind(" (");
    return open != std::string_view::npos && kind.find(')', open) == std::string_view::npos ? kind.substr(0, open) : kind;
}

/// Bounds how many lines are written about failures: of each kind one at once, and then the count of the others every few
/// seconds. If a database is down, every request fails in the same way, thousands of times a second.
///
/// Any thread.
class line_limiter {
public:
    using time_point = std::chrono::steady_clock::time_point;

    static constexpr std::chrono::seconds period{5};
    static constexpr std::size_t kinds_max_default = 64;
    static constexpr std::size_t text_bytes_max = 512;

    /// More than `kinds_max` kinds share one count.
    explicit line_limiter(std::size_t kinds_max = kinds_max_default) : kinds_max_{kinds_max} {}

    /// Whether a line about a failure of this kind is written. If not, it is counted, and the beginning of its text is kept.
    [[nodiscard]] bool admit(std::string_view kind, std::string_view text, time_point now) {
        const std::lock_guard hold{mutex_};
        auto known = kinds_.find(kind);
        if (known == kinds_.end() && kinds_.size() >= kinds_max_) {
            kind = others;
            known = kinds_.find(kind);
        }
        if (known == kinds_.end()) {
            kinds_.emplace(kind, state{now});
            return true;
        }
        ++known->second.left_out;
        known->second.last.assign(text.substr(0, text_bytes_max));
        return false;
    }

    /// Calls `write(kind, count, last text)` for each kind of which lines were omitted in a period, and begins the next period. A
    /// kind without omitted lines is removed: its next failure is written at once. `time_point::max()` reports all omitted lines.
    template <class Write>
    void report(time_point now, Write&& write) {
        const std::lock_guard hold{mutex_};
        for (auto each = kinds_.begin(); each != kinds_.end();) {
            auto& [kind, entry] = *each;
            if (now < entry.since + period) {
                ++each;
            } else if (entry.left_out == 0) {
                each = kinds_.erase(each);
            } else {
                write(std::string_view{kind}, entry.left_out, std::string_view{entry.last});
                entry = {now};
                ++each;
            }
        }
    }

private:
    static constexpr std::string_view others = "other failures";

    struct state {
        time_point since;
        std::uint64_t left_out = 0;
        std::string last{};  // text of those
    };

    const std::size_t kinds_max_;
    std::mutex mutex_;
    std::map<std::string, state, std::less<>> kinds_;
};

}  // namespace reference
