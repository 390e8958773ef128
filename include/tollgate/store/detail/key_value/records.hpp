#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_RECORDS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_RECORDS_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/model/account.hpp>
#include <tollgate/model/application.hpp>
#include <tollgate/model/delivery.hpp>
#include <tollgate/model/grant.hpp>
#include <tollgate/model/hook.hpp>
#include <tollgate/model/resource.hpp>
#include <tollgate/store/detail/key_value/codec.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What the store keeps. The order of `fields` is the stored form, so a change of it needs a new `record_version`.

namespace tollgate::inline v0::key_value_detail {

/// A personal token. `Text` is std::string_view in a look-up, which copies nothing, and std::string where the record is changed.
template <class Text>
struct personal_token_record {
    user_id user{1};
    token_id id{1};
    digest secret{};
    std::optional<instant> expires_at{}, last_used_at{};
    Text scopes{};
    instant created_at{};
    Text description{}, last_used_from{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.user, r.id, r.secret, r.expires_at, r.last_used_at, r.scopes, r.created_at, r.description, r.last_used_from);
    }
};

/// An access token; `Text` as above.
template <class Text>
struct access_token_record {
    user_id user{1};
    application_id application{1};
    std::optional<instant> last_used_at{};
    instant created_at{}, expires_at{};
    std::uint64_t origin = 0;  // that of its refresh token, created_alone or created_for_owner
    Text scopes{};
    Text resources{};  // in the form of resource_set::text

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.user, r.application, r.last_used_at, r.created_at, r.expires_at, r.origin, r.scopes, r.resources);
    }
};

struct previous_secret_record {
    std::string secret;
    instant valid_until{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.secret, r.valid_until);
    }
};

struct hook_record {
    service_name service{};
    account_id account{1};
    std::string event, type, target_url;
    std::uint64_t host = 0;  // host_of(target_url)
    std::string secret;      // in the form of secret_keys::encrypt
    digest secret_digest{};
    hook_source source = hook_source::api;
    instant created_at{};
    std::vector<previous_secret_record> previous{};
    std::optional<digest> idempotency_key{};
    std::optional<instant> disabled_at{}, failing_since{}, last_failure_at{};
    disable_reason reason = disable_reason::failing;
    /// Deliveries are still to be held because the hook was disabled, or to be sent because it was enabled.
    bool is_changing_deliveries = false;

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.service, r.account, r.event, r.type, r.target_url, r.host, r.secret, r.secret_digest, r.source, r.created_at,
              r.previous, r.idempotency_key, r.disabled_at, r.failing_since, r.last_failure_at, r.reason, r.is_changing_deliveries);
    }

    [[nodiscard]] account_ref owner() const noexcept { return {service, account}; }
    [[nodiscard]] hook_status status() const noexcept {
        return {disabled_at ? std::optional{hook_disablement{*disabled_at, reason}} : std::nullopt, failing_since, last_failure_at};
    }
    void set(const hook_status& status) noexcept {
        disabled_at = status.disabled ? std::optional{status.disabled->at} : std::nullopt;
        if (status.disabled) reason = status.disabled->reason;
        failing_since = status.failing_since;
        last_failure_at = status.last_failure_at;
    }
};

struct event_record {
    std::uint64_t appended = 0;  // deliveries at first
    service_name service{};
    account_id account{1};
    instant at{};
    std::string name, data;

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.appended, r.service, r.account, r.at, r.name, r.data);
    }
};

struct outbox_delivery_record {
    digest event{};  // the key of its event
    std::string event_name;
    public_id message_id{};
    instant created_at{}, at{};  // at: due, end of the lease, or since when it is in its state
    delivery_state state = delivery_state::waiting;
    std::optional<std::uint64_t> leased_host{};  // the host that its lease, in force or over, counts for
    bool lease_open = false, resend_requested = false;
    std::int64_t lease_number = 0;
    std::uint64_t attempts_made = 0, last_attempt = 0;  // since it was created or resent; on record
    std::uint64_t event_bytes = 0, attempts_bytes = 0;  // see outbox_bounds.hpp

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.event, r.event_name, r.message_id, r.created_at, r.at, r.state, r.leased_host, r.lease_open, r.resend_requested,
              r.lease_number, r.attempts_made, r.last_attempt, r.event_bytes, r.attempts_bytes);
    }
};

/// An attempt; `Text` as above.
template <class Text>
struct attempt_record {
    instant at{};
    milliseconds duration{};
    attempt_end end = attempt_end::answered;
    attempt_cause cause = attempt_cause::none;
    std::uint64_t status = 0;
    Text response{}, request{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.at, r.duration, r.end, r.cause, r.status, r.response, r.request);
    }
};

/// The bytes of a hook's deliveries that have not ended, and the host for which they count.
struct unsent_record {
    std::uint64_t bytes = 0, host = 0;

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.bytes, r.host);
    }
};

/// The ended deliveries of a hook from `next` on, the first number that was not trimmed.
struct history_record {
    std::uint64_t ended = 0, next = 1;

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.ended, r.next);
    }
};

struct application_record {
    user_id owner{1};
    client_id_text client_id{};
    digest secret{};
    std::string name, website, description;
    std::vector<std::string> redirect_urls{};
    instant created_at{};
    client_type type = client_type::confidential;
    std::optional<digest> older_secret{};
    bool acts_for_owner = false;
    std::optional<suspension> suspended{};
    registration_kind registration = registration_kind::by_owner;
    std::string default_scopes{};
    digest registration_digest{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.owner, r.client_id, r.secret, r.name, r.website, r.description, r.redirect_urls, r.created_at, r.type, r.older_secret,
              r.acts_for_owner, r.suspended, r.registration, r.default_scopes, r.registration_digest);
    }
};

struct grant_record {
    grant_id id{1};
    std::string scopes;
    instant created_at{};
    std::optional<instant> last_used_at{};
    std::uint64_t last_number = 0;  // of its codes and of the uses of its refresh tokens

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.id, r.scopes, r.created_at, r.last_used_at, r.last_number);
    }
};

struct code_record {
    user_id user{1};
    application_id application{1};
    std::string scopes, redirect;
    std::optional<std::string> code_challenge{};
    std::uint64_t number = 0;  // in its grant
    instant expires_at{}, forget_at{};
    std::optional<instant> redeemed_at{};
    digest refresh_token{};  // the first one that was created from it, once it is redeemed
    std::string resources{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.user, r.application, r.scopes, r.redirect, r.code_challenge, r.number, r.expires_at, r.forget_at, r.redeemed_at,
              r.refresh_token, r.resources);
    }
};

struct refresh_token_record {
    user_id user{1};
    application_id application{1};
    std::uint64_t origin = 0;  // of its family; see origin_of
    std::uint64_t number = 0;  // in its grant, of its last use
    std::string scopes;
    instant expires_at{}, ends_at{};
    std::optional<digest> family{};  // of the last replacement, as the fields below
    digest replaced{};
    instant replaced_at{};
    digest successor_seed{};
    std::string resources{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.user, r.application, r.origin, r.number, r.scopes, r.expires_at, r.ends_at, r.family, r.replaced, r.replaced_at,
              r.successor_seed, r.resources);
    }
};

/// The device codes of an application.
struct device_list_record {
    std::uint64_t count = 0, last_number = 0;

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.count, r.last_number);
    }
};

struct device_code_record {
    digest user_digest{};
    application_id application{1};
    std::uint64_t number = 0;  // in its application
    std::string scopes, requested_from;
    instant created_at{}, expires_at{};
    device_code_state state = device_code_state::pending;
    std::optional<user_id> answered_by{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.user_digest, r.application, r.number, r.scopes, r.requested_from, r.created_at, r.expires_at, r.state, r.answered_by);
    }
};

struct session_record {
    user_id user{1};
    std::string login, signed_in_from, user_agent;
    instant created_at{}, last_seen_at{};

    template <class Self, class Visit>
    static void fields(Self& r, Visit&& visit) {
        visit(r.user, r.login, r.signed_in_from, r.user_agent, r.created_at, r.last_seen_at);
    }
};

/// The resources in a record, which holds nothing but what `text` wrote.
[[nodiscard]] inline resource_set to_resources(std::string_view text) noexcept {
    return text.empty() ? resource_set{} : resource_set::parse(text).value_or(resource_set{});
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_RECORDS_HPP
