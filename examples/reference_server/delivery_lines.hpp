#pragma once

#include "settings.hpp"

#include <tollgate/contract/observer.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace reference {

/// Words what became of a webhook: failures, and hooks that get nothing any more. A receiver that is down fails a thousand
/// times in the same way, so of each kind of failure there are only a few lines a minute, and the count of the others.
class delivery_lines {
public:
    /// Ended by a newline; empty where there is nothing to say, or too much of it has been said. Of the target it shows the
    /// host alone: there may be a secret in the rest. Any thread.
    [[nodiscard]] std::string line(const tollgate::delivery_record& told, log_form form);

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::chrono::minutes period{1};
    static constexpr unsigned lines_a_period = 10;

    struct pace {
        clock::time_point began{};
        unsigned lines = 0;
        std::uint64_t left_out = 0;
    };
    /// How many like it were left out before this one; none when this one is, too.
    [[nodiscard]] std::optional<std::uint64_t> admit(const tollgate::attempt& made);

    std::mutex mutex_;
    std::map<std::pair<tollgate::attempt_end, unsigned>, pace> paces_;  // by how it ended, and the status
};

}  // namespace reference
