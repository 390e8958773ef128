#pragma once
#ifndef TOLLGATE_CONTRACT_AUTHENTICATOR_HPP
#define TOLLGATE_CONTRACT_AUTHENTICATOR_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/detail/member_names.hpp>
#include <tollgate/contract/detail/reference.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/model/caller.hpp>
#include <tollgate/model/personal_token.hpp>

#include <concepts>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// Authenticates the caller from the Authorization field of one scheme (RFC 9110 section 11). An API has one
/// authenticator per scheme.
///
/// To read the credentials from another field, declare `static constexpr std::string_view field = "X-Api-Key";`. `credentials` is then the
/// value of that field, and `scheme` is only the beginning of the challenge. Each authenticator of this kind has its own field. A request
/// with credentials in two fields, or in two lines of one field, is a 400.
///
/// `identify` runs on a worker thread if the store or the authenticator may block; see `may_block`. An authenticator that only looks up a
/// token can also be a `token_authenticator`. Its requests are then answered without a worker if the credentials are malformed or the token
/// is cached.
///
/// Exemplar:
///
///     struct shared_password {
///         static constexpr std::string_view scheme = "Shared";
///         static constexpr std::string_view challenge = "Shared realm=\"api\"";
///         static constexpr bool blocking = false;
///         result<std::optional<caller>> identify(std::string_view credentials, const credential_source_ref&, instant) const {
///             if (!equal_in_constant_time(credentials, "please")) return std::optional<caller>{};
///             return std::optional{caller{user_id{1}, *scope_set::parse("user:balance"), credential_kind::other, {}}};
///         }
///     };
template <class A>
concept authenticator = requires(const A& a, std::string_view credentials, const credential_source_ref& store, instant now) {
    // The auth-scheme, which is compared case-insensitively.
    { A::scheme } -> std::convertible_to<std::string_view>;
    // The challenge in `WWW-Authenticate`: a constant of visible ASCII that begins with the scheme.
    { A::challenge } -> std::convertible_to<std::string_view>;
    // Returns the caller, or an empty optional for unacceptable credentials, which are a 401 and never a 5xx. Returns an `error` only if
    // the caller could not be determined, for instance because a store is down. `credentials` is the text after the scheme and the spaces
    // that follow it, or the value of `field`. The function must compare secrets in constant time, and is called from many threads at once.
    { a.identify(credentials, store, now) } -> std::same_as<result<std::optional<caller>>>;
};

/// A token that a request presents.
struct presented_token {
    credential_kind kind = credential_kind::personal_token;  ///< personal_token or access_token
    token_username username;                                 ///< user name by which a personal token is found
    digest secret_digest;                                    ///< digest of the secret, by which an access token is found
};

/// An authenticator whose credentials are tokens of a `credential_source`, so that the code that calls it can look up the token. A token is
/// accepted if the source has it with the same digest and it has not expired.
///
/// Exemplar: `basic_token`.
template <class A>
concept token_authenticator = requires(const A& a, std::string_view credentials, presented_token& into,
                                       const std::optional<instant>& last_used_at, instant now) {
    // Reads the token from the credentials into a new `presented_token`. Returns false if the credentials are malformed. Does not use a
    // store.
    { a.read(credentials, into) } -> std::same_as<bool>;
    // Returns true if the calling code should record this use of an accepted token.
    { a.use_is_due(last_used_at, now) } noexcept -> std::same_as<bool>;
};

/// An authenticator that reads a field of its own instead of Authorization.
template <class A>
concept has_own_field = requires { { A::field } -> std::convertible_to<std::string_view>; };

namespace detail {

struct authenticator_calls {
    result<std::optional<caller>> (*identify)(void*, std::string_view, const credential_source_ref&, instant);
    bool (*read)(void*, std::string_view, presented_token&);  // null unless the class is a token_authenticator
    bool (*use_is_due)(void*, const std::optional<instant>&, instant) noexcept;
};

template <class A>
struct calls_of_authenticator {
    static result<std::optional<caller>> identify(void* object, std::string_view credentials, const credential_source_ref& store,
                                                  instant now) {
        return object_at<const A>(object).identify(credentials, store, now);
    }
    static bool read(void* object, std::string_view credentials, presented_token& into) {
        return object_at<const A>(object).read(credentials, into);
    }
    static bool use_is_due(void* object, const std::optional<instant>& last_used_at, instant now) noexcept {
        return object_at<const A>(object).use_is_due(last_used_at, now);
    }

    static consteval authenticator_calls make_table() {
        authenticator_calls calls{&identify, nullptr, nullptr};
        if constexpr (token_authenticator<A>) {
            calls.read = &read;
            calls.use_is_due = &use_is_due;
        }
        return calls;
    }
    static constexpr authenticator_calls table = make_table();
};

}  // namespace detail

/// A reference to an `authenticator` of any class, or to no object. The object must outlive the reference. The contract states the
/// thread rule and the errors.
class authenticator_ref : public detail::reference<detail::authenticator_calls> {
public:
    authenticator_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class A>
        requires detail::is_erasable<A, authenticator_ref>
    authenticator_ref(A& object) noexcept {
        static_assert(authenticator<A>, "tollgate: this does not satisfy authenticator; read tollgate/contract/authenticator.hpp");
        if constexpr (authenticator<A>) {
            if constexpr (requires { &A::read; })
                static_assert(token_authenticator<A>,
                              "tollgate: a member named read exists, but this does not satisfy token_authenticator; "
                              "read tollgate/contract/authenticator.hpp");
            static_assert(has_own_field<A> || !detail::names_field<A>,
                          "tollgate: field of an authenticator is a static constexpr std::string_view; "
                          "read tollgate/contract/authenticator.hpp");
            refer_to(object, detail::calls_of_authenticator<A>::table);
            scheme_ = A::scheme;
            challenge_ = A::challenge;
            if constexpr (has_own_field<A>) field_ = A::field;
        }
    }

    /// Each calls the object's function of this name; see `authenticator`.
    [[nodiscard]] std::string_view scheme() const noexcept { return scheme_; }
    [[nodiscard]] std::string_view challenge() const noexcept { return challenge_; }
    [[nodiscard]] result<std::optional<caller>> identify(std::string_view credentials, const credential_source_ref& store,
                                                         instant now) const {
        return calls_->identify(object_, credentials, store, now);
    }
    /// Returns the name of the field that the authenticator reads, or an empty text if it reads Authorization.
    [[nodiscard]] std::string_view field() const noexcept { return field_; }
    /// Returns true for the scheme Bearer, whose challenges have error codes (RFC 6750 section 3).
    [[nodiscard]] bool is_bearer() const noexcept { return detail::ascii_iequals(scheme_, "Bearer"); }

    /// Returns true if the object is a `token_authenticator`.
    [[nodiscard]] bool reads_tokens() const noexcept { return calls_->read != nullptr; }
    /// Calls the object's function of this name. Precondition: reads_tokens().
    [[nodiscard]] bool read(std::string_view credentials, presented_token& into) const { return calls_->read(object_, credentials, into); }
    [[nodiscard]] bool use_is_due(const std::optional<instant>& last_used_at, instant now) const noexcept {
        return calls_->use_is_due(object_, last_used_at, now);
    }

private:
    std::string_view scheme_, challenge_, field_;
};

/// Decides whether a User-Agent is accepted. Operators use the User-Agent to contact a client's developer before they
/// block the client.
///
/// Exemplar:
///
///     struct any_agent {
///         bool accepts(std::string_view) const noexcept { return true; }
///     };
template <class A>
concept agent_rule = requires(const A& a, std::string_view user_agent) {
    // `user_agent` is the field value as sent, or empty if the field is missing. Returns false to refuse the request with 403. Called from
    // many threads at once.
    { a.accepts(user_agent) } noexcept -> std::same_as<bool>;
};

namespace detail {

struct agent_rule_calls {
    bool (*accepts)(void*, std::string_view) noexcept;
};

template <class T>
struct calls_of_agent_rule {
    static bool accepts(void* object, std::string_view user_agent) noexcept { return object_at<T>(object).accepts(user_agent); }

    static constexpr agent_rule_calls table{&accepts};
};

}  // namespace detail

/// A reference to an `agent_rule` of any class, or to no object. The object must outlive the reference. The contract states the thread
/// rule and the errors.
class agent_rule_ref : public detail::reference<detail::agent_rule_calls> {
public:
    agent_rule_ref() noexcept = default;
    /// Constructs a reference to `object`.
    template <class T>
        requires detail::is_erasable<T, agent_rule_ref>
    agent_rule_ref(T& object) noexcept {
        static_assert(agent_rule<T>, "tollgate: this does not satisfy agent_rule; read tollgate/contract/authenticator.hpp");
        if constexpr (agent_rule<T>) refer_to(object, detail::calls_of_agent_rule<T>::table);
    }

    /// Each calls the object's function of this name; see `agent_rule`.
    [[nodiscard]] bool accepts(std::string_view user_agent) const noexcept { return calls_->accepts(object_, user_agent); }
};

}  // namespace tollgate

#endif  // TOLLGATE_CONTRACT_AUTHENTICATOR_HPP
