#pragma once
#ifndef TOLLGATE_WEB_COOKIE_SESSIONS_HPP
#define TOLLGATE_WEB_COOKIE_SESSIONS_HPP

#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/blocking.hpp>
#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/session_source.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/model/detail/quota_settings.hpp>
#include <tollgate/web/credential_rules.hpp>
#include <tollgate/web/session_cookies.hpp>
#include <tollgate/web/sign_in_throttle.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

/// Sessions with a random cookie and rows in a store. Each sign-in begins a new session, which prevents session fixation. A session ends
/// after an idle time and after an absolute time.
///
/// Store and passwords must outlive the object. Thread rule: any thread. Blocking: as the store does; `sign_in` and `change_password` also
/// as the passwords do.
template <class Store, class Passwords, random_source Random = system_random>
class cookie_sessions {
    static_assert(session_store<Store>, "tollgate: this does not satisfy session_store; read tollgate/contract/session_source.hpp");
    static_assert(password_source<Passwords>, "tollgate: this does not satisfy password_source; read tollgate/contract/session_source.hpp");
    static constexpr bool knows_active_users = active_user_source<Passwords>;
    static_assert(knows_active_users || !detail::names_is_active<Passwords>,
                  "tollgate: a member named is_active exists, but this does not satisfy active_user_source; "
                  "read tollgate/contract/session_source.hpp");
    static constexpr bool knows_versions = detail::names_password_version<Passwords>;

public:
    /// Returns true if a session lookup may block.
    [[nodiscard]] bool may_block() const noexcept {
        return tollgate::may_block(*store_) || (knows_active_users && tollgate::may_block(*passwords_));
    }

    /// Constructs the sessions. Throws std::invalid_argument as `session_cookie` does, and for a bound of the throttle without a window.
    cookie_sessions(session_settings settings, Store& store, Passwords& passwords, Random random = {})
        : settings_{std::move(settings)},
          cookie_{settings_},
          browsers_{settings_},
          throttle_{settings_.throttle, settings_.throttle_capacity},
          store_{std::addressof(store)},
          passwords_{std::addressof(passwords)},
          random_{std::move(random)} {
        const sign_in_bounds& bounds = settings_.throttle;
        detail::require_windows("session", {{"throttle.login_at_address", bounds.login_at_address},
                                            {"throttle.address", bounds.address},
                                            {"throttle.login", bounds.login},
                                            {"throttle.login_at_site", bounds.login_at_site},
                                            {"throttle.login_at_network", bounds.login_at_network},
                                            {"throttle.site", bounds.site},
                                            {"throttle.network", bounds.network},
                                            {"throttle.login_on_browser", bounds.login_on_browser},
                                            {"throttle.login_on_browsers", bounds.login_on_browsers}});
        if constexpr (knows_versions)
            static_assert(versioned_password_source<Passwords>,
                          "tollgate: a member named password_version exists, but this does not satisfy versioned_password_source; "
                          "read tollgate/contract/session_source.hpp");
    }

    /// Implements `session_source`. Records the use of the session at most once per `touch_interval`.
    [[nodiscard]] result<std::optional<session>> session_of(const http::request& request, instant now) {
        const auto cookie = cookie_.read(request);
        if (!cookie) return std::optional<session>{};
        const auto key = digest_of(*cookie);
        auto found = store_->find_session(key);
        if (!found) return std::move(found).error();
        if (!*found || is_over(**found, now)) return std::optional<session>{};
        if constexpr (knows_active_users) {
            const auto active = passwords_->is_active((*found)->user);
            if (!active) return active.error();
            if (!*active) return std::optional<session>{};
        }
        // A failure to record the use does not end the session now. The session only expires earlier.
        if (now - (*found)->last_seen_at >= settings_.touch_interval) (void)store_->touch_session(key, now);
        return std::optional{
            session{(*found)->user, std::move((*found)->login), session_cookie::session_secret_of(*cookie)}};
    }

    /// Returns true if the tokens and sessions of this user are valid. Without an `active_user_source`, they always are.
    [[nodiscard]] result<bool> is_active(user_id user) {
        if constexpr (knows_active_users) return passwords_->is_active(user);
        else return true;
    }

    /// Returns the URL of the sign-in page, from which the user returns to `return_to`.
    [[nodiscard]] std::string sign_in_url(std::string_view return_to) const { return cookie_.sign_in_url(return_to); }

    /// Implements `sign_in_source`.
    [[nodiscard]] result<sign_in_response> sign_in(const http::request& request, sign_in_attempt attempt, instant now,
                                                   http::response& response) {
        attempt.login = trim_login(attempt.login);
        // A text that cannot be a login or password does not justify a slow hash, and must not lock anyone out.
        if (attempt.login.size() > limits::login_bytes_max || attempt.password.size() > limits::password_bytes_max ||
            (!attempt.login.empty() && !detail::is_visible_line(attempt.login, limits::login_bytes_max)))
            return sign_in_response{};
        const sign_in_key key{attempt.login, attempt.client, browsers_.find(request, attempt.login)};
        if (const auto wait = throttle_.begin(key, now))
            return sign_in_response{sign_in_result::throttled, std::nullopt, *wait};
        auto checked = check(attempt, key.browser != 0);
        if (!checked) {
            throttle_.forgive(key, now);
            return std::move(checked).error();
        }
        if (!*checked) return sign_in_response{};
        throttle_.succeed(key, now);
        if (auto ended = end_session_of(request); !ended) return std::move(ended).error();
        auto started = begin_session({(*checked)->user, std::string{attempt.login}, {}}, request, attempt.client, now);
        if (!started) return std::move(started).error();
        // A change of the password ends the sessions of its user, perhaps just before this session began.
        if constexpr (knows_versions) {
            auto version = passwords_->password_version(attempt.login);
            if (!version || *version != (*checked)->version) {
                (void)store_->end_sessions(digest_of(started->cookie));
                return version ? unavailable("the password was changed while it was checked") : std::move(version).error();
            }
        }
        if (!cookie_.set(started->cookie, response)) return internal_error("the session cookie is malformed");
        std::array<std::byte, 16> random;
        if (key.browser == 0 && random_.fill(random)) browsers_.set(random, attempt.login, response);
        return sign_in_response{sign_in_result::signed_in, std::move(started->signed_in), {}};
    }

    /// Implements `sign_in_source`: ends the session of the request and removes its cookie.
    [[nodiscard]] result<void> sign_out(const http::request& request, instant, http::response& response) {
        auto ended = end_session_of(request);
        if (ended) cookie_.clear(response);
        return ended;
    }

    /// Each implements a function of `session_manager`. Expired sessions are not listed.
    [[nodiscard]] result<std::vector<listed_session>> sessions_of(const http::request& request, const session& session, instant now) {
        auto found = store_->sessions_of(session.user);
        if (!found) return std::move(found).error();
        const auto cookie = cookie_.read(request);
        const auto current = cookie ? std::optional{digest_of(*cookie)} : std::nullopt;
        std::vector<listed_session> listed;
        for (stored_session& each : *found)
            if (!is_over(each, now))
                listed.push_back({listed_id_of(each.cookie_digest), each.created_at, each.last_seen_at,
                                  std::move(each.signed_in_from), std::move(each.user_agent), each.cookie_digest == current});
        return listed;
    }
    [[nodiscard]] result<bool> end_session(const session& session, std::string_view id) {
        const auto found = store_->sessions_of(session.user);
        if (!found) return found.error();
        for (const stored_session& each : *found)
            if (listed_id_of(each.cookie_digest) == id) return store_->end_sessions(each.cookie_digest);
        return false;
    }
    [[nodiscard]] result<void> end_other_sessions(const http::request& request, const session& session) {
        const auto cookie = cookie_.read(request);
        return store_->end_sessions(sessions_of_user{session.user, cookie ? std::optional{digest_of(*cookie)} : std::nullopt})
            .transform([](bool) {});
    }

    /// Implements `password_changer`.
    [[nodiscard]] result<password_change_response> change_password(const http::request& request, const session& session,
                                                                   const password_change& change, instant now,
                                                                 http::response& response)
        requires password_store<Passwords>
    {
        using enum password_change_response::outcome;
        if (change.current.size() > limits::password_bytes_max) return password_change_response{refused, {}};
        const sign_in_attempt attempt{session.login, change.current, change.client};
        const sign_in_key key{session.login, change.client, browsers_.find(request, session.login)};
        if (const auto wait = throttle_.begin(key, now)) return password_change_response{throttled, *wait};
        auto checked = check(attempt, true);
        if (!checked) {
            throttle_.forgive(key, now);
            return std::move(checked).error();
        }
        // The login may belong to another user by now.
        if (!*checked || (*checked)->user != session.user) {
            const auto repeated = find_repeated_change(request, now, response);
            if (!repeated) return repeated.error();
            if (!*repeated) return password_change_response{refused, {}};
            throttle_.forgive(key, now);
            return password_change_response{password_change_response::outcome::repeated, {}};
        }
        throttle_.succeed(key, now);
        // The new session begins before the change, so that it ends, too, if the password is changed again. Its cookie is sent last.
        const auto chosen = successor_for(request);
        auto started = begin_session({session.user, session.login, {}}, request, change.client, now, chosen);
        // If the same submission has begun the session, and may have ended, the change continues here.
        const bool is_shared = !started && chosen && started.error().kind == error_kind::conflict;
        if (!started && !is_shared) return std::move(started).error();
        const secret_text cookie = is_shared ? *chosen : started->cookie;
        const auto cookie_digest = digest_of(cookie);
        // The sessions end before the change: if they cannot be ended, the password must not change either, or a thief's session would
        // outlive it. The current session also ends, because someone else may know its cookie.
        if (auto ended = store_->end_sessions(sessions_of_user{session.user, cookie_digest}); !ended) {
            if (!is_shared) (void)store_->end_sessions(cookie_digest);
            return std::move(ended).error();
        }
        auto outcome = changed;
        if (auto set = passwords_->set_password(**checked, change.new_password); !set) {
            const bool is_conflict = set.error().kind == error_kind::conflict;
            // The conflict is another change, or the same submission: then the new password is right.
            const bool is_repeated = is_conflict && chosen && is_password_of(session, change.new_password, change.client);
            if (!is_repeated) {
                if (is_conflict || !is_shared) (void)store_->end_sessions(cookie_digest);
                if (is_conflict) return password_change_response{refused, {}};
                return std::move(set).error();
            }
            outcome = password_change_response::outcome::repeated;
        }
        // The sessions end again, for those that began with the old password meanwhile.
        (void)store_->end_sessions(sessions_of_user{session.user, cookie_digest});
        if (!cookie_.set(cookie, response)) return internal_error("the session cookie is malformed");
        return password_change_response{outcome, {}};
    }

    /// Implements `repeated_change_source`. A change begins the session with the `session_cookie::successor_of` the cookie and the body of
    /// its request.
    [[nodiscard]] result<bool> find_repeated_change(const http::request& request, instant now, http::response& response)
        requires password_store<Passwords>
    {
        const auto successor = successor_for(request);
        if (!successor) return false;
        const bool has_it = session_cookie::is_successor(*cookie_.read(request), request.body);
        const std::string_view cookie = has_it ? *cookie_.read(request) : std::string_view{*successor};
        const auto found = store_->find_session(digest_of(cookie));
        if (!found) return found.error();
        if (!*found || is_over(**found, now) || !is_recent((*found)->created_at, now, repeated_change_age_max)) return false;
        if (!has_it && !cookie_.set(cookie, response)) return internal_error("the session cookie is malformed");
        return true;
    }

private:
    /// The time for which a change that is submitted again continues the session that it has begun.
    static constexpr seconds repeated_change_age_max{60};

    /// Returns the cookie of the session that this form begins, or an empty optional if the request has no cookie or no form.
    [[nodiscard]] std::optional<secret_text> successor_for(const http::request& request) const {
        const auto cookie = cookie_.read(request);
        if (!cookie || request.body.empty()) return std::nullopt;
        return session_cookie::successor_of(*cookie, request.body);
    }

    /// Returns true if the password is the user's. Returns false if it cannot be checked.
    [[nodiscard]] bool is_password_of(const session& session, std::string_view password, const ip_address& client) {
        const auto checked = check({session.login, password, client}, true);
        return checked && *checked && (*checked)->user == session.user;
    }

    /// Returns the id of a session on pages: a hash of the digest by which the store finds the session, so that no page contains the
    /// digest.
    [[nodiscard]] static std::string listed_id_of(const digest& cookie) {
        return detail::hex_encode(sha256(cookie.raw()).raw().substr(0, 12));
    }

    /// Returns the part of the User-Agent that is stored. All stores accept visible ASCII.
    [[nodiscard]] static std::string stored_user_agent(const http::request& request) {
        std::string user_agent{request.fields.find(http::field_id::user_agent).substr(0, limits::session_user_agent_bytes_max)};
        std::replace_if(user_agent.begin(), user_agent.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        return user_agent;
    }

    [[nodiscard]] result<std::optional<checked_password>> check(const sign_in_attempt& attempt, bool is_known_browser) {
        auto checked = [&] {
            if constexpr (requires { passwords_->check_password(attempt); }) {
                auto described = attempt;
                described.is_known_browser = is_known_browser;
                return passwords_->check_password(described);
            } else {
                return passwords_->check_password(attempt.login, attempt.password);
            }
        }();
        if constexpr (knows_versions) {
            return checked;
        } else {
            if (!checked) return std::move(checked).error();
            if (!*checked) return std::optional<checked_password>{};
            return std::optional{checked_password{**checked}};
        }
    }

    // More rows than one sign-in adds, so that the store does not grow with expired sessions.
    static constexpr std::size_t sweep_rows_max = 4;

    [[nodiscard]] bool is_over(const stored_session& found, instant now) const noexcept {
        return !is_recent(found.created_at, now, settings_.lifetime) || !is_recent(found.last_seen_at, now, settings_.idle_lifetime);
    }

    [[nodiscard]] result<void> end_session_of(const http::request& request) {
        const auto cookie = cookie_.read(request);
        if (!cookie) return {};
        auto ended = store_->end_sessions(digest_of(*cookie));
        if (!ended) return std::move(ended).error();
        return {};
    }

    /// A session that is in the store, and its cookie, which has not been sent yet.
    struct begun_session {
        session signed_in;
        secret_text cookie;
    };

    /// Begins a session with the cookie `chosen`, or a random cookie.
    [[nodiscard]] result<begun_session> begin_session(session session, const http::request& request, const ip_address& client,
                                                      instant now, const std::optional<secret_text>& chosen = std::nullopt) {
        const auto cookie = chosen ? chosen : new_secret(secret_kind::session, random_);
        if (!cookie) return random_source_error();
        session.secret = session_cookie::session_secret_of(*cookie);

        // The sweep comes first, so that expired sessions never cause the store to refuse a new session.
        const session_ends ends{.created_before = now - settings_.lifetime, .seen_before = now - settings_.idle_lifetime};
        (void)store_->sweep({.sessions = ends, .rows_max = sweep_rows_max});
        auto stored = store_->create_session({.cookie_digest = digest_of(*cookie),
                                              .user = session.user,
                                              .login = session.login,
                                              .created_at = now,
                                              .last_seen_at = now,
                                              .signed_in_from = network_of(client),
                                              .user_agent = stored_user_agent(request)});
        if (!stored) return std::move(stored).error();
        return begun_session{std::move(session), *cookie};
    }

    session_settings settings_;
    session_cookie cookie_;
    browser_cookie browsers_;
    sign_in_throttle throttle_;
    Store* store_;
    Passwords* passwords_;
    Random random_;
};

}  // namespace tollgate

#endif  // TOLLGATE_WEB_COOKIE_SESSIONS_HPP
