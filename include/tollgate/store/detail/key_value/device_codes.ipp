#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_DEVICE_CODES_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_DEVICE_CODES_IPP

#include <tollgate/store/detail/key_value/grants.ipp>
#include <tollgate/store/detail/key_value/tokens.hpp>
#include <tollgate/store/key_value.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tollgate::inline v0 {

namespace key_value_detail {

[[nodiscard]] inline key device_key(const digest& device) noexcept { return key{table::device_codes}.bytes(device); }
[[nodiscard]] inline key user_code_key(const digest& user_code) noexcept { return key{table::device_user_codes}.bytes(user_code); }

/// The request of a device's code; empty also if its application was deleted.
[[nodiscard]] inline std::optional<device_code> find_by_device(rows& all, const digest& device) {
    auto found = all.get<device_code_record>(device_key(device));
    if (!found) return std::nullopt;
    const auto application = all.get<application_record>(application_key(found->application));
    if (!application) return std::nullopt;
    return device_code{device, found->application, application->client_id, scope_set::from_text(found->scopes),
                       std::move(found->requested_from), found->created_at, found->expires_at, found->state, found->answered_by};
}
[[nodiscard]] inline std::optional<device_code> find_by_user_code(rows& all, const digest& user_code) {
    std::string device;
    return all.find(user_code_key(user_code), device) ? find_by_device(all, last_digest(device)) : std::nullopt;
}

/// Removes expired rows, or else the oldest code of the application that has the most, so that one application cannot use up the store.
/// Returns the error for a full table if each application has only one.
[[nodiscard]] inline std::optional<error> make_room_for_device_code(rows& all, instant now) {
    for (;;) {
        auto full = find_no_room(all, bounded_device_codes, {});
        if (!full) return full;
        if (sweep_expired_rows(all, now, step_rows_max) != 0) continue;
        std::uint64_t most = 1;
        std::optional<application_id> busiest;
        all.scan(key{table::device_lists}, all_rows, [&](std::string_view at, std::string_view value) {
            device_list_record list;
            if (!decode(value, list)) throw_damaged(at);
            if (list.count <= most) return true;
            most = list.count;
            busiest = id_of<application_id>(last_number(at));
            return true;
        });
        if (!busiest) return full;
        for (const digest& oldest : all.digests(key{table::device_codes_of}.id(*busiest), 1)) forget_device_code(all, oldest);
    }
}

}  // namespace key_value_detail

TOLLGATE_DECL result<void> record_store::create_device_code(const new_device_code& code) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<void> {
        if (!all.has(application_key(code.application))) return not_found();
        if (const auto existing = all.get<device_code_record>(device_key(code.device_digest))) {
            if (existing->user_digest == code.user_digest && existing->application == code.application) return {};  // the call is repeated
            return token_exists();
        }
        if (all.has(user_code_key(code.user_digest))) return token_exists();
        if (auto full = make_room_for_device_code(all, code.created_at)) return *std::move(full);
        count_row(all, bounded_device_codes, {}, 1);
        const key listed = key{table::device_codes_of}.id(code.application);
        const key list = device_list_key(code.application);
        if (all.get<device_list_record>(list).value_or(device_list_record{}).count >= limits::device_codes_per_application_max)
            for (const digest& oldest : all.digests(listed, 1)) forget_device_code(all, oldest);
        auto counted = all.get<device_list_record>(list).value_or(device_list_record{});
        ++counted.count;
        const std::uint64_t number = ++counted.last_number;
        all.put(list, counted);
        all.put(device_key(code.device_digest),
                device_code_record{code.user_digest, code.application, number, std::string{code.scopes.text()}, code.requested_from,
                                   code.created_at, code.expires_at, device_code_state::pending, {}});
        all.put(user_code_key(code.user_digest), code.device_digest.raw());
        all.put(key{listed}.number(number).bytes(code.device_digest), "");
        all.put(expiry_key(code.expires_at + seconds{limits::expired_device_code_seconds}, table::device_codes, code.device_digest), "");
        return {};
    });
}

TOLLGATE_DECL result<std::optional<device_code>> record_store::find_device_code(const digest& code) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        auto found = find_by_device(all, code);
        return found ? found : find_by_user_code(all, code);
    });
}

TOLLGATE_DECL result<std::optional<device_answer>> record_store::answer_device_code(const device_decision& decision) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<std::optional<device_answer>> {
        const auto request = find_by_user_code(all, decision.user_digest);
        const auto answer = request ? judge_answer(*request, decision) : std::nullopt;
        if (!answer || !answer->is_new) return answer;
        if (answer->state == device_code_state::approved) {
            const auto created = add_code(all, code_of(*request, decision));
            if (!created) return created.error();
            if (*created != code_result::created) return std::optional<device_answer>{};
        }
        auto stored = all.existing<device_code_record>(device_key(request->device_digest));
        stored.state = answer->state;
        stored.answered_by = answer->user;
        all.put(device_key(request->device_digest), stored);
        return answer;
    });
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_DEVICE_CODES_IPP
