#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_DEVICE_CODES_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_DEVICE_CODES_HPP

#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/store/detail/memory/applications.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>
#include <tollgate/store/store_error.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tollgate::inline v0::memory {

/// Device codes, in memory. They are few, so lookups scan all of them.
///
/// Thread rule: callers hold the lock of the store's OAuth part.
class device_codes {
public:
    device_codes(std::size_t codes_max, const applications& known) : codes_max_{codes_max}, applications_{known} {}

    result<void> create(const new_device_code& code) {
        if (applications_.find(code.application) == nullptr) return not_found();
        const auto existing = find_row(code.device_digest);
        if (existing != rows_.end() && existing == find_row(code.user_digest)) {
            const bool is_repeated = existing->code.device_digest == code.device_digest &&
                                     existing->code.user_digest == code.user_digest && existing->code.application == code.application;
            return is_repeated ? result<void>{} : token_exists();
        }
        if (existing != rows_.end() || find_row(code.user_digest) != rows_.end()) return token_exists();
        const bool is_full = rows_.size() >= codes_max_ && sweep_expired(code.created_at, 1) == 0;
        const auto replaced = is_full ? busiest_application() : std::nullopt;
        if (is_full && !replaced)
            return table_is_full(codes_max_, "device codes", "device_codes_max");
        rows_.push_back({code});
        if (replaced) erase_oldest_of(*replaced);
        if (count_of(code.application) > limits::device_codes_per_application_max) erase_oldest_of(code.application);
        return {};
    }

    [[nodiscard]] std::optional<device_code> find(const digest& code) const {
        const auto found = find_row(code);
        return found == rows_.end() ? std::nullopt : describe(*found);
    }
    [[nodiscard]] std::optional<device_code> find_by_user_code(const digest& user_code) const {
        for (const row& each : rows_)
            if (each.code.user_digest == user_code) return describe(each);
        return std::nullopt;
    }

    void set_answer(const digest& user_code, const device_answer& answer) noexcept {
        for (row& each : rows_)
            if (each.code.user_digest == user_code) {
                each.state = answer.state;
                each.answered_by = answer.user;
            }
    }

    void forget_of(application_id application) noexcept { std::erase_if(rows_, is_of{application}); }

    std::size_t sweep_expired(instant now, std::size_t rows_max) noexcept {
        const instant until = now - seconds{limits::expired_device_code_seconds};
        std::size_t swept = 0;
        std::erase_if(rows_, [&](const row& each) {
            const bool goes = swept < rows_max && each.code.expires_at <= until;
            swept += goes ? 1 : 0;
            return goes;
        });
        return swept;
    }

private:
    struct row {
        new_device_code code;
        device_code_state state = device_code_state::pending;
        std::optional<user_id> answered_by = {};
    };

    [[nodiscard]] std::optional<device_code> describe(const row& stored) const {
        const new_device_code& code = stored.code;
        const auto* const application = applications_.find(code.application);
        if (application == nullptr) return std::nullopt;
        return device_code{code.device_digest, code.application, application->client_id, code.scopes,       code.requested_from,
                           code.created_at,    code.expires_at,  stored.state,           stored.answered_by};
    }

    struct is_of {
        application_id application;
        bool operator()(const row& each) const noexcept { return each.code.application == application; }
    };
    [[nodiscard]] std::size_t count_of(application_id application) const noexcept {
        return static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), is_of{application}));
    }
    void erase_oldest_of(application_id application) noexcept {
        rows_.erase(std::find_if(rows_.begin(), rows_.end(), is_of{application}));
    }
    /// The application that has the most codes, so that one application cannot use up the store; empty if each has only one.
    [[nodiscard]] std::optional<application_id> busiest_application() const {
        std::map<application_id, std::size_t> counts;
        for (const row& each : rows_) ++counts[each.code.application];
        const auto most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most == counts.end() || most->second < 2) return std::nullopt;
        return most->first;
    }

    [[nodiscard]] std::vector<row>::const_iterator find_row(const digest& code) const noexcept {
        return std::find_if(rows_.begin(), rows_.end(), [&](const row& each) {
            return each.code.device_digest == code || each.code.user_digest == code;
        });
    }

    const std::size_t codes_max_;
    const applications& applications_;
    std::vector<row> rows_;  // oldest first
};

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_DEVICE_CODES_HPP
