#pragma once
#ifndef TOLLGATE_WEB_DETAIL_FORM_HPP
#define TOLLGATE_WEB_DETAIL_FORM_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/sources.hpp>
#include <tollgate/http/detail/form_body.hpp>
#include <tollgate/http/request.hpp>
#include <tollgate/http/response.hpp>
#include <tollgate/model/session.hpp>
#include <tollgate/web/html_writer.hpp>
#include <tollgate/web/texts.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tollgate::inline v0::web {

struct page_site;

/// Makes each rendered form unique: 12 random bytes, and the time in seconds.
using form_nonce = std::array<std::byte, 16>;

namespace detail {

TOLLGATE_DECL void put_second(form_nonce& nonce, instant now) noexcept;

}  // namespace detail

/// The result is empty if the random source fails.
template <random_source Random>
[[nodiscard]] std::optional<form_nonce> new_form_nonce(const Random& random, instant now) noexcept {
    form_nonce nonce;
    if (!random.fill(nonce)) return std::nullopt;
    detail::put_second(nonce, now);
    return nonce;
}

/// Whole seconds since 1970.
[[nodiscard]] TOLLGATE_DECL instant made_at(const form_nonce& nonce) noexcept;

/// The text form of a nonce, and back; empty for any other text.
[[nodiscard]] TOLLGATE_DECL std::string form_nonce_text(const form_nonce& nonce);
[[nodiscard]] TOLLGATE_DECL std::optional<form_nonce> parse_form_nonce(std::string_view text);

/// What a form token is bound to: it is valid for this session, this purpose and this text only.
struct form_binding {
    form_binding(const session& session, std::string_view purpose_, std::string_view signed_text_ = {}) noexcept
        : form_binding{std::string_view{session.secret}, purpose_, signed_text_} {
        login = session.login;
    }
    /// Constructs the binding without a session, for a secret of the browser.
    form_binding(std::string_view secret_, std::string_view purpose_, std::string_view signed_text_ = {}) noexcept
        : secret{secret_}, purpose{purpose_}, signed_text{signed_text_} {}

    std::string_view secret;       ///< secret of the session; if empty, no token is valid
    std::string_view purpose;      ///< purpose of the form, such as `tokens/create`
    std::string_view signed_text;  ///< other text that must be submitted unchanged, such as the parameters of a request
    std::string_view login = {};   ///< login of the session; the token has a hash of it, see `is_for_other_user`
};

/// The name of the hidden field.
inline constexpr std::string_view form_token_name = "form_token";

/// The CSRF token of a form (OWASP, "HMAC based token pattern"): the nonce, an HMAC with the session's secret and, for a session, a hash
/// of the nonce and the login. `[A-Za-z0-9_.-]` only.
[[nodiscard]] TOLLGATE_DECL std::string make_form_token(const form_binding& binding, const form_nonce& nonce);

/// A token with a new nonce. Error (internal) for a session without a secret, and if the random source fails.
template <class Random>
[[nodiscard]] result<std::string> new_form_token(const form_binding& binding, const Random& random, instant now) {
    if (binding.secret.empty()) return internal_error("the session has no secret");
    const auto nonce = new_form_nonce(random, now);
    if (!nonce) return random_source_error();
    return make_form_token(binding, *nonce);
}

/// The nonce of a token that was made with this binding; empty for any other text, and for a session without a secret.
[[nodiscard]] TOLLGATE_DECL std::optional<form_nonce> check_form_token(const form_binding& binding,
                                                                       std::string_view text);

/// Returns true if a token was made for a session with another login, which has ended since: somebody else has signed in. The hash in the
/// token reveals nothing that the page of the form does not show. False for a text that is no token of a session.
[[nodiscard]] TOLLGATE_DECL bool is_for_other_user(const session& session, std::string_view token);

/// Returns the reason for displaying a form again that came with the token of a session before the current session.
[[nodiscard]] TOLLGATE_DECL std::string stale_reason(const session& session, std::string_view token, const form_texts& texts);

/// The errors of a submitted form, in the order of its fields. One with an empty field is about the whole form.
class form_faults {
public:
    struct fault {
        std::string field;
        std::string text;
        std::string label;  ///< the label of the field; empty if the text names the field itself
    };

    void add(std::string_view field, std::string_view text, std::string_view label = {}) {
        faults_.push_back({std::string{field}, std::string{text}, std::string{label}});
    }

    [[nodiscard]] bool empty() const noexcept { return faults_.empty(); }
    [[nodiscard]] const std::vector<fault>& all() const noexcept { return faults_; }

    /// Returns true if a field has an error. Other errors are about the whole form.
    [[nodiscard]] bool has_fields() const noexcept {
        for (const fault& each : faults_)
            if (!each.field.empty()) return true;
        return false;
    }

    /// Null for a field without errors.
    [[nodiscard]] const fault* find(std::string_view field) const noexcept {
        for (const fault& each : faults_)
            if (each.field == field) return &each;
        return nullptr;
    }

    /// Returns true for the first field with an error, which gets the focus.
    [[nodiscard]] bool is_first(std::string_view field) const noexcept {
        for (const fault& each : faults_)
            if (!each.field.empty()) return each.field == field;
        return false;
    }

private:
    std::vector<fault> faults_;
};

/// A text field. It has no `maxlength`: browsers would silently cut what is pasted.
struct text_field {
    std::string_view name;
    std::string_view label;
    std::string_view hint = {};
    std::string_view value = {};
    std::string_view type = "text";  ///< type of the HTML input
    std::string_view autocomplete = "off";
    std::size_t line_count = 1;  ///< number of visible lines; if more than 1, `type` is ignored
    bool required = true;
    bool focused = false;  ///< gets the focus unless another field has an error
};

/// An option of a field.
struct choice {
    std::string_view value;
    std::string_view text;
    bool chosen = false;
};

/// Options under a heading; without a heading if it is empty.
struct choice_group {
    std::string_view heading;
    std::vector<choice> choices;
};

/// A field with options.
struct choice_field {
    std::string_view name;
    std::string_view label;
    std::string_view hint = {};
};

/// The URL to which a form is submitted, and its hidden fields.
struct form_target {
    std::string_view url;
    std::string_view form_token;  ///< omitted if empty
    std::vector<std::pair<std::string_view, std::string>> hidden = {};
    std::string item_mark = {};  ///< proves that the page listed the item that the form is about; omitted if empty
};

/// The name of the hidden field with the `item_mark`.
inline constexpr std::string_view item_mark_name = "item_mark";

/// A button that asks for confirmation before it submits: a popover of HTML, which Escape and a button close without a script. It gets
/// the focus. Browsers without popovers show it from the start, and focus the first one.
struct confirmation {
    std::string_view label;   ///< label of the button that opens the confirmation
    std::string_view about;   ///< the affected object, for screen readers
    std::string warning;      ///< a description of what will happen
    std::string_view button;  ///< label of the button that submits
    bool is_removal = false;  ///< nothing replaces what the action ends
    std::string_view typed_name = {};  ///< the field that the user must fill in; omitted if empty
    std::string typed_label = {};
    const form_faults* faults = nullptr;  ///< faults of `typed_name`, whose form was refused: the confirmation is open
    bool is_open = false;                 ///< true if the form came with the token of another session, and is displayed again
};

/// Begins a form; `</form>` ends it.
TOLLGATE_DECL void begin_form(html_writer& html, const form_target& to);

/// A summary of all errors that links to the fields. Nothing if there is none, or a single one at a field, which has
/// the focus anyway.
TOLLGATE_DECL void write_faults(html_writer& html, const form_faults& faults, const form_texts& texts);

TOLLGATE_DECL void write_text_field(html_writer& html, const text_field& field, const form_faults& faults,
                                    const form_texts& texts);

/// Writes a checkbox for each choice; all are submitted under one name. `text` is the label, `value` is displayed beside it.
TOLLGATE_DECL void write_checkboxes(html_writer& html, const choice_field& field, std::span<const choice> choices,
                                    const form_faults& faults, const form_texts& texts);

TOLLGATE_DECL void write_select(html_writer& html, const choice_field& field, std::span<const choice_group> groups,
                                const form_faults& faults, const form_texts& texts);

/// The hidden fields of `to` distinguish it from all others of the page.
TOLLGATE_DECL void write_confirmation(html_writer& html, const confirmation& action, const form_target& to, const form_texts& texts);

/// A read-only text to copy. The button to copy it is hidden until the script of the page shows it.
struct copyable_text {
    std::string_view name;  ///< unique on the page
    std::string_view label;
    std::string_view text;
};
TOLLGATE_DECL void write_copyable_text(html_writer& html, const copyable_text& text, const form_texts& texts);

/// The status to refuse a posted form with by its head alone, whether its body has arrived or not: 413 for a body over the limit, 415 for
/// another media type than `application/x-www-form-urlencoded` or a content coding. An empty body is an empty form.
[[nodiscard]] TOLLGATE_DECL std::optional<http::status> check_form_head(const http::request& request) noexcept;

}  // namespace tollgate::web

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/form.ipp>
#endif

#endif  // TOLLGATE_WEB_DETAIL_FORM_HPP
