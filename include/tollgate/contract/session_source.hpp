#pragma once
#ifndef TOLLGATE_CONTRACT_SESSION_SOURCE_HPP
#define TOLLGATE_CONTRACT_SESSION_SOURCE_HPP

#include <tollgate/base/ids.hpp>
#include <tollgate/base/ip_address.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/model/sweep.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0 {

/// A submitted sign-in form and the client's address. The views are valid during the call.
struct sign_in_attempt {
    std::string_view login;  ///< without blanks around it, as `trim_login` returns it
    std::string_view password;
    ip_address client;  ///< the client's address; behind trusted proxies, the address that they report
    bool is_known_browser = false;  ///< true if the browser has signed in with this login before
};

/// The result of a password check that succeeded. The version is empty if the password source is not a `versioned_password_source`.
struct checked_password {
    user_id user;
    std::string version = {};
};

/// Checks a login and its password. Only the built-in sign-in page needs it.
///
/// Thread rule: callable from many threads at once. Blocking: allowed, and usual; see `may_block`. Errors: an `error` if the password could
/// not be checked, including unavailable if too many checks are running; nothing is thrown.
///
/// If a source also has `check_password(const sign_in_attempt&)`, the library calls that function instead, so that the source can share its
/// capacity fairly between clients. If a source is an `active_user_source`, the sessions of disabled and deleted users end at once.
template <class P>
concept password_source = requires(P& p, std::string_view login, std::string_view password) {
    // Returns the user, or an empty optional if login or password is wrong. Must take as long for an unknown login as for a wrong password.
    { p.check_password(login, password) } -> std::same_as<result<std::optional<user_id>>>;
};

/// Reports users who are disabled or deleted. Optional for password and session sources.
template <class T>
concept active_user_source = requires(T& t, user_id user) {
    // Returns true if the user may use their sessions and tokens.
    { t.is_active(user) } -> std::same_as<result<bool>>;
};

/// A password source that returns the version of the password with which it compared. Optional: with it, a sign-in with the old password
/// that overlaps with a change leaves no session, and the second of two simultaneous changes is refused.
///
/// Exemplar:
///
///     struct shop_passwords {
///         std::mutex mutex;
///         std::string password = "please";
///         std::uint64_t changes = 0;
///
///         result<std::optional<user_id>> check_password(std::string_view login, std::string_view typed) {
///             const std::scoped_lock held{mutex};
///             const bool is_right = equal_in_constant_time(typed, password);  // for an unknown login, too
///             return login == "ann" && is_right ? std::optional{user_id{1}} : std::nullopt;
///         }
///         result<std::optional<checked_password>> check_password(const sign_in_attempt& attempt) {
///             const std::scoped_lock held{mutex};
///             const bool is_right = equal_in_constant_time(attempt.password, password);
///             if (attempt.login != "ann" || !is_right) return std::optional<checked_password>{};
///             return std::optional{checked_password{user_id{1}, std::to_string(changes)}};
///         }
///         result<std::string> password_version(std::string_view login) {
///             const std::scoped_lock held{mutex};
///             return login == "ann" ? std::to_string(changes) : std::string{};
///         }
///         result<void> set_password(const checked_password& current, std::string_view new_password) {
///             const std::scoped_lock held{mutex};
///             if (current.version != std::to_string(changes)) return error{error_kind::conflict, "The password was changed.", {}};
///             password = new_password;
///             ++changes;
///             return {};
///         }
///     };
template <class P>
concept versioned_password_source = password_source<P> && requires(P& p, const sign_in_attempt& attempt, std::string_view login) {
    // Like check_password(login, password), but also returns the version of the password that matched: a text that is different after each
    // change, for instance the hash. The library neither stores nor displays it.
    { p.check_password(attempt) } -> std::same_as<result<std::optional<checked_password>>>;
    // Returns the present version of this login's password, or an empty text if there is no such user.
    { p.password_version(login) } -> std::same_as<result<std::string>>;
};

/// A password source whose users can change their passwords. Optional: with it `cookie_sessions` is a `password_changer`.
template <class P>
concept password_store = password_source<P> && requires(P& p, const checked_password& current, std::string_view password) {
    // Sets the user's password, which has at least `limits::password_characters_min` characters and at most `limits::password_bytes_max`
    // bytes, and for which `is_common_password` is false. A source should convert passwords to Unicode's form NFC before it hashes them,
    // here and in check_password, because keyboards send the same letter in different forms. error_kind::not_found if there is no such
    // user. error_kind::conflict, with nothing changed, if the source has versions and `current` is not the current version.
    { p.set_password(current, password) } -> std::same_as<result<void>>;
};

/// Finds the session of a request. Implement it for the sessions of your site; `cookie_sessions` stores sessions of its own. If the class
/// is an `active_user_source`, token introspection and the token endpoint call its `is_active`: disabled users get no tokens.
///
/// Thread rule: callable from many threads at once. Blocking: allowed. A class that does not block declares
/// `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`; nothing is thrown.
///
/// Exemplar:
///
///     struct site_sessions {
///         result<std::optional<session>> session_of(const http::request& request, instant) {
///             const auto cookie = request.fields.find(http::field_id::cookie);
///             if (cookie != "site=ann-is-here") return std::optional<session>{};
///             return std::optional{session{user_id{1}, "ann", std::string{cookie}}};
///         }
///         std::string sign_in_url(std::string_view return_to) const {
///             return "/login?next=" + http::percent_encode(return_to);
///         }
///     };
template <class S>
concept session_source = requires(S& s, const http::request& request, instant now, std::string_view return_to) {
    // Returns the session of this request, or an empty optional if there is none.
    { s.session_of(request, now) } -> std::same_as<result<std::optional<session>>>;
    // Returns the URL for a user who is not signed in, from which they return to `return_to`, a path and query of this site. The URL is
    // visible ASCII without a fragment. An authorization page appends two query parameters if the application sent them: `prompt` (login,
    // select_account or both) asks for the form although there is a session, and `login_hint` is a login for the form.
    { s.sign_in_url(return_to) } -> std::same_as<std::string>;
};

/// The result of an attempt to sign in.
enum class sign_in_result : std::uint8_t {
    signed_in,
    refused,  ///< unknown login or wrong password; clients cannot distinguish the two
    throttled,  ///< too many failures; the password was not checked
};

/// The result of an attempt to sign in, with the session or the waiting time.
struct sign_in_response {
    sign_in_result result = sign_in_result::refused;
    std::optional<tollgate::session> session;  ///< the new session, if signed in
    seconds retry_after{};  ///< the time to wait, at least 1 s, if throttled
};

/// A session source with sign-in and sign-out, for the built-in sign-in pages, such as `cookie_sessions`. If your site has a sign-in page,
/// a `session_source` is enough: its `sign_in_url` is the URL of that page.
///
/// Thread rule and errors: as for `session_source`. Blocking: `sign_in` computes a slow password hash, so the library calls it on a worker
/// thread even if `blocking` is false.
template <class S>
concept sign_in_source = session_source<S> && requires(S& s, const http::request& request, const sign_in_attempt& attempt,
                                                       instant now, http::response& response) {
    // Checks the password, ends the session of the request, if any, and starts a new session, whose Set-Cookie is added to `response`. Adds
    // nothing to `response` unless the result is `signed_in`. The calling code has checked that this site sent the form.
    { s.sign_in(request, attempt, now, response) } -> std::same_as<result<sign_in_response>>;
    // Ends the session of the request, if any, and clears the cookie.
    { s.sign_out(request, now, response) } -> std::same_as<result<void>>;
};

/// A session source that lists the sessions of its users and ends them, such as `cookie_sessions`. Optional: with it `account_pages` has a
/// page where a user signs out elsewhere.
///
/// Thread rule, blocking and errors: as for `session_source`.
template <class S>
concept session_manager = session_source<S> && requires(S& s, const http::request& request, const session& session, std::string_view id,
                                                        instant now) {
    // Returns the sessions of this user, most recently used first, including the session of the request.
    { s.sessions_of(request, session, now) } -> std::same_as<result<std::vector<listed_session>>>;
    // Ends the session of this user with this `listed_session::id`. Returns true if there was such a session.
    { s.end_session(session, id) } -> std::same_as<result<bool>>;
    // Ends all sessions of this user except the session of the request.
    { s.end_other_sessions(request, session) } -> std::same_as<result<void>>;
};

/// A new password for a signed-in user, who must enter the current password. The views are valid during the call.
struct password_change {
    std::string_view current;
    /// The new password: at least `limits::password_characters_min` characters, at most `limits::password_bytes_max` bytes, and not an
    /// `is_common_password`.
    std::string_view new_password;
    ip_address client;              ///< the client's address; behind trusted proxies, the address that they report
};

/// The result of a password change.
struct password_change_response {
    enum class outcome : std::uint8_t {
        changed,
        repeated,   ///< the same submission has just changed the password
        refused,    ///< the current password is wrong
        throttled,  ///< too many failures; the password was not checked
    };
    outcome result = outcome::refused;  ///< the result of the change
    seconds retry_after{};  ///< the time to wait, at least 1 s, if throttled
};

/// A session source that changes passwords. Optional: with it, `account_pages` has a form for changing the password. `cookie_sessions` is a
/// `password_changer` if its passwords are a `password_store`.
///
/// Thread rule and errors: as for `session_source`. Blocking: the function computes slow password hashes, so the library calls it on a
/// worker thread even if `blocking` is false.
template <class S>
concept password_changer = session_source<S> && requires(S& s, const http::request& request, const session& session,
                                                         const password_change& change, instant now,
                                                         http::response& response) {
    // Checks the current password as a sign-in does, with the same bounds on failures, and sets the new password. Ends all sessions of the
    // user, because any of them may be an attacker's, and starts a new session, whose Set-Cookie is added to `response`. Adds nothing to
    // `response` unless the result is `changed` or `repeated`.
    { s.change_password(request, session, change, now, response) } -> std::same_as<result<password_change_response>>;
};

/// A password changer that recognizes a change that is submitted again (double click, reload), although the change has ended the session of
/// the form. Optional. `cookie_sessions` satisfies it if it is a `password_changer`.
///
/// Thread rule, blocking and errors: as for `session_source`.
template <class S>
concept repeated_change_source = password_changer<S> && requires(S& s, const http::request& request, instant now,
                                                                 http::response& response) {
    // Returns true if this request, a form with the same cookie and the same bytes, has changed the password at most a minute ago. If so,
    // adds the Set-Cookie of the session that the change started, unless the request has that cookie. Called for forms whose session has
    // ended, and for forms with the token of another session.
    { s.find_repeated_change(request, now, response) } -> std::same_as<result<bool>>;
};

/// Stores sessions. Only `cookie_sessions` needs it.
///
/// Thread rule: callable from many threads at once. Blocking: allowed. A store that does not block declares
/// `static constexpr bool blocking = false`; see `may_block`. Errors: an `error`; nothing is thrown.
///
/// A user cannot fill a store by signing in repeatedly: beyond `limits::sessions_per_user_max` sessions of one user, a store may delete the
/// least recently used sessions. The stores of this library do.
///
/// Exemplars: `memory_store`, `sqlite_store`, `postgres_store`. An adapter is correct if it passes `tollgate/testing/store_suite.hpp`.
template <class S>
concept session_store = requires(S& s, const stored_session& session, const digest& cookie, const session_selection& ended,
                                 user_id user, instant now, const sweep_request& sweep) {
    // Stores a session. error_kind::conflict if the digest exists (for another session than the same user's that began at the same time).
    { s.create_session(session) } -> std::same_as<result<void>>;
    // Returns the session with this digest of its cookie, or an empty optional if there is none.
    { s.find_session(cookie) } -> std::same_as<result<std::optional<stored_session>>>;
    // Sets the time of the session's last use to `now`, even if that is earlier than the stored time: the clock may have been set back.
    // Succeeds if the session does not exist.
    { s.touch_session(cookie, now) } -> std::same_as<result<void>>;
    // Returns the user's sessions, most recently used first; none if there is no such user. Expired sessions are listed until a sweep.
    { s.sessions_of(user) } -> std::same_as<result<std::vector<stored_session>>>;
    // Ends sessions, which are invalid as soon as the call returns. Returns true if there was such a session.
    { s.end_sessions(ended) } -> std::same_as<result<bool>>;
    // Deletes sessions, and returns their number; see `sweep_request::sessions`.
    { s.sweep(sweep) } -> std::same_as<result<std::size_t>>;
};

namespace detail {

struct session_source_calls {
    result<std::optional<session>> (*session_of)(void*, const http::request&, instant);
    std::string (*sign_in_url)(void*, std::string_view);
    result<bool> (*is_active)(void*, user_id);
    result<sign_in_response> (*sign_in)(void*, const http::request&, const sign_in_attempt&, instant, http::response&);
    result<void> (*sign_out)(void*, const http::request&, instant, http::response&);
    result<std::vector<listed_session>> (*sessions_of)(void*, const http::request&, const session&, instant);
    result<bool> (*end_session)(void*, const session&, std::string_view);
    result<void> (*end_other_sessions)(void*, const http::request&, const session&);
    result<password_change_response> (*change_password)(void*, const http::request&, const session&, const password_change&, instant,
                                                        http::response&);
    result<bool> (*find_repeated_change)(void*, const http::request&, instant, http::response&);
};

template <class T>
struct calls_of_session_source {
    static result<std::optional<session>> session_of(void* object, const http::request& request, instant now) {
        return object_at<T>(object).session_of(request, now);
    }
    static std::string sign_in_url(void* object, std::string_view return_to) { return object_at<T>(object).sign_in_url(return_to); }
    static result<bool> is_active(void* object, user_id user) { return object_at<T>(object).is_active(user); }
    static result<sign_in_response> sign_in(void* object, const http::request& request, const sign_in_attempt& attempt, instant now,
                                            http::response& response) {
        return object_at<T>(object).sign_in(request, attempt, now, response);
    }
    static result<void> sign_out(void* object, const http::request& request, instant now, http::response& response) {
        return object_at<T>(object).sign_out(request, now, response);
    }
    static result<std::vector<listed_session>> sessions_of(void* object, const http::request& request, const session& current,
                                                           instant now) {
        return object_at<T>(object).sessions_of(request, current, now);
    }
    static result<bool> end_session(void* object, const session& current, std::string_view id) {
        return object_at<T>(object).end_session(current, id);
    }
    static result<void> end_other_sessions(void* object, const http::request& request, const session& current) {
        return object_at<T>(object).end_other_sessions(request, current);
    }
    static result<password_change_response> change_password(void* object, const http::request& request, const session& current,
                                                            const password_change& change, instant now, http::response& response) {
        return object_at<T>(object).change_password(request, current, change, now, response);
    }
    static result<bool> find_repeated_change(void* object, const http::request& request, instant now, http::response& response) {
        return object_at<T>(object).find_repeated_change(request, now, response);
    }

    static consteval session_source_calls make_table() {
        session_source_calls calls{};
        calls.session_of = &session_of;
        calls.sign_in_url = &sign_in_url;
        if constexpr (active_user_source<T>) calls.is_active = &is_active;
        if constexpr (sign_in_source<T>) calls.sign_in = &sign_in;
        if constexpr (sign_in_source<T>) calls.sign_out = &sign_out;
        if constexpr (session_manager<T>) calls.sessions_of = &sessions_of;
        if constexpr (session_manager<T>) calls.end_session = &end_session;
        if constexpr (session_manager<T>) calls.end_other_sessions = &end_other_sessions;
        if constexpr (password_changer<T>) calls.change_password = &change_password;
        if constexpr (repeated_change_source<T>) calls.find_repeated_change = &find_repeated_change;
        return calls;
    }
    static constexpr session_source_calls table = make_table();
};

}  // namespace detail

/// A reference to a `session_source` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class session_source_ref : public detail::reference<detail::session_source_calls> {
public:
    session_source_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, session_source_ref>
    session_source_ref(T& object) noexcept {
        static_assert(session_source<T>, "tollgate: this does not satisfy session_source; read tollgate/contract/session_source.hpp");
        if constexpr (session_source<T>) {
            static_assert(active_user_source<T> || !detail::names_is_active<T>,
                          "tollgate: a member named is_active exists, but this does not satisfy active_user_source; "
                          "read tollgate/contract/session_source.hpp");
            refer_to(object, detail::calls_of_session_source<T>::table);
        }
    }

    /// Each calls the object's function of this name; see `session_source`.
    [[nodiscard]] result<std::optional<session>> session_of(const http::request& request, instant now) const {
        return calls_->session_of(object_, request, now);
    }
    [[nodiscard]] std::string sign_in_url(std::string_view return_to) const { return calls_->sign_in_url(object_, return_to); }

    /// Returns true if the object is an `active_user_source`.
    [[nodiscard]] bool knows_active_users() const noexcept { return calls_->is_active != nullptr; }
    /// Calls the object's function of this name. Precondition: knows_active_users().
    [[nodiscard]] result<bool> is_active(user_id user) const { return calls_->is_active(object_, user); }

    /// Returns true if the object is a `sign_in_source`.
    [[nodiscard]] bool signs_in() const noexcept { return calls_->sign_in != nullptr; }
    /// Calls the object's function of this name. Precondition: signs_in().
    [[nodiscard]] result<sign_in_response> sign_in(const http::request& request, const sign_in_attempt& attempt, instant now,
                                                   http::response& response) const {
        return calls_->sign_in(object_, request, attempt, now, response);
    }
    [[nodiscard]] result<void> sign_out(const http::request& request, instant now, http::response& response) const {
        return calls_->sign_out(object_, request, now, response);
    }

    /// Returns true if the object is a `session_manager`.
    [[nodiscard]] bool lists_sessions() const noexcept { return calls_->sessions_of != nullptr; }
    /// Calls the object's function of this name. Precondition: lists_sessions().
    [[nodiscard]] result<std::vector<listed_session>> sessions_of(const http::request& request, const session& current, instant now) const {
        return calls_->sessions_of(object_, request, current, now);
    }
    [[nodiscard]] result<bool> end_session(const session& current, std::string_view id) const {
        return calls_->end_session(object_, current, id);
    }
    [[nodiscard]] result<void> end_other_sessions(const http::request& request, const session& current) const {
        return calls_->end_other_sessions(object_, request, current);
    }

    /// Returns true if the object is a `password_changer`.
    [[nodiscard]] bool changes_passwords() const noexcept { return calls_->change_password != nullptr; }
    /// Calls the object's function of this name. Precondition: changes_passwords().
    [[nodiscard]] result<password_change_response> change_password(const http::request& request, const session& current,
                                                                   const password_change& change, instant now,
                                                                   http::response& response) const {
        return calls_->change_password(object_, request, current, change, now, response);
    }

    /// Returns true if the object is a `repeated_change_source`.
    [[nodiscard]] bool finds_repeated_changes() const noexcept { return calls_->find_repeated_change != nullptr; }
    /// Calls the object's function of this name. Precondition: finds_repeated_changes().
    [[nodiscard]] result<bool> find_repeated_change(const http::request& request, instant now, http::response& response) const {
        return calls_->find_repeated_change(object_, request, now, response);
    }
};

namespace detail {

struct session_store_calls {
    result<void> (*create_session)(void*, const stored_session&);
    result<std::optional<stored_session>> (*find_session)(void*, const digest&);
    result<void> (*touch_session)(void*, const digest&, instant);
    result<std::vector<stored_session>> (*sessions_of)(void*, user_id);
    result<bool> (*end_sessions)(void*, const session_selection&);
    result<std::size_t> (*sweep)(void*, const sweep_request&);
};

template <class T>
struct calls_of_session_store {
    static result<void> create_session(void* object, const stored_session& created) { return object_at<T>(object).create_session(created); }
    static result<std::optional<stored_session>> find_session(void* object, const digest& cookie) {
        return object_at<T>(object).find_session(cookie);
    }
    static result<void> touch_session(void* object, const digest& cookie, instant now) {
        return object_at<T>(object).touch_session(cookie, now);
    }
    static result<std::vector<stored_session>> sessions_of(void* object, user_id user) { return object_at<T>(object).sessions_of(user); }
    static result<bool> end_sessions(void* object, const session_selection& ended) { return object_at<T>(object).end_sessions(ended); }
    static result<std::size_t> sweep(void* object, const sweep_request& request) { return object_at<T>(object).sweep(request); }

    static constexpr session_store_calls table{&create_session, &find_session, &touch_session, &sessions_of, &end_sessions, &sweep};
};

}  // namespace detail

/// A reference to a `session_store` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class session_store_ref : public detail::reference<detail::session_store_calls> {
public:
    session_store_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, session_store_ref>
    session_store_ref(T& object) noexcept {
        static_assert(session_store<T>, "tollgate: this does not satisfy session_store; read tollgate/contract/session_source.hpp");
        if constexpr (session_store<T>) refer_to(object, detail::calls_of_session_store<T>::table);
    }

    /// Each calls the object's function of this name; see `session_store`.
    [[nodiscard]] result<void> create_session(const stored_session& created) const { return calls_->create_session(object_, created); }
    [[nodiscard]] result<std::optional<stored_session>> find_session(const digest& cookie) const {
        return calls_->find_session(object_, cookie);
    }
    [[nodiscard]] result<void> touch_session(const digest& cookie, instant now) const {
        return calls_->touch_session(object_, cookie, now);
    }
    [[nodiscard]] result<std::vector<stored_session>> sessions_of(user_id user) const { return calls_->sessions_of(object_, user); }
    [[nodiscard]] result<bool> end_sessions(const session_selection& ended) const { return calls_->end_sessions(object_, ended); }
    [[nodiscard]] result<std::size_t> sweep(const sweep_request& request) const { return calls_->sweep(object_, request); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_SESSION_SOURCE_HPP
