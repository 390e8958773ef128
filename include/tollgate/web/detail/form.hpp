#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/random_source.hpp>
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

namespace tollgate::inline v0::pipeline {

/// Makes one page's forms differ from every other's: 12 random bytes, and the second that it was made in.
using form_nonce = std::array<std::byte, 16>;

namespace detail {

TOLLGATE_DECL void put_second(form_nonce& made, instant now) noexcept;

}  // namespace detail

/// None without random bytes.
template <random_source Random>
[[nodiscard]] std::optional<form_nonce> new_form_nonce(const Random& random, instant now) noexcept {
    form_nonce made;
    if (!random.fill(made)) return std::nullopt;
    detail::put_second(made, now);
    return made;
}

/// Whole seconds since 1970.
[[nodiscard]] TOLLGATE_DECL instant made_at(const form_nonce& nonce) noexcept;

/// As a form carries it by itself, and back; none for every other text.
[[nodiscard]] TOLLGATE_DECL std::string form_nonce_text(const form_nonce& nonce);
[[nodiscard]] TOLLGATE_DECL std::optional<form_nonce> parse_form_nonce(std::string_view text);

/// What a form token is bound to: it is good for this session, this purpose and these words alone.
struct form_seal {
    const session& who;
    std::string_view purpose;       ///< what the form does, such as `tokens/create`
    std::string_view covered = {};  ///< what else must come back as it was, such as the parameters of a request
};

/// The name of the hidden field.
inline constexpr std::string_view form_token_name = "form_token";

/// What a form of ours carries, so that no other site can send it in a person's name (OWASP, "HMAC based token
/// pattern"): the nonce, and an HMAC by the session's secret. `[A-Za-z0-9_.-]` only.
[[nodiscard]] TOLLGATE_DECL std::string make_form_token(const form_seal& seal, const form_nonce& nonce);

/// The nonce of a token that was made with this seal; none for every other text, and where a session has no secret.
[[nodiscard]] TOLLGATE_DECL std::optional<form_nonce> check_form_token(const form_seal& seal, std::string_view shown);

/// What is wrong with what was typed, field by field, in the order of the form. One without a field is about all of it.
class form_faults {
public:
    struct fault {
        std::string field;
        std::string text;
        std::string label;  ///< what people call the field; empty for a text that says so itself
    };

    void add(std::string_view field, std::string_view text, std::string_view label = {}) {
        faults_.push_back({std::string{field}, std::string{text}, std::string{label}});
    }

    [[nodiscard]] bool empty() const noexcept { return faults_.empty(); }
    [[nodiscard]] const std::vector<fault>& all() const noexcept { return faults_; }

    /// Null for a field without one.
    [[nodiscard]] const fault* find(std::string_view field) const noexcept {
        for (const fault& each : faults_)
            if (each.field == field) return &each;
        return nullptr;
    }

    /// Whether the reader is to be taken to this field.
    [[nodiscard]] bool is_first(std::string_view field) const noexcept {
        for (const fault& each : faults_)
            if (!each.field.empty()) return each.field == field;
        return false;
    }

private:
    std::vector<fault> faults_;
};

/// A field of one line.
struct text_field {
    std::string_view name;
    std::string_view label;
    std::string_view hint = {};
    std::string_view value = {};
    std::string_view type = "text";  ///< of the HTML input
    std::string_view autocomplete = "off";
    std::size_t bytes_max = 0;  ///< 0: the browser is told no bound
    bool required = true;
    bool focused = false;  ///< the reader begins here, unless something is wrong elsewhere
};

/// One of several to choose from.
struct choice {
    std::string_view value;
    std::string_view text;
    bool chosen = false;
};

/// Choices under a heading; without one if it is empty.
struct choice_group {
    std::string_view heading;
    std::vector<choice> choices;
};

/// A field of choices.
struct choice_field {
    std::string_view name;
    std::string_view label;
    std::string_view hint = {};
};

/// Where a form goes, and what it takes along unseen.
struct form_target {
    std::string_view url;
    std::string_view form_token;  ///< none if empty
    std::vector<std::pair<std::string_view, std::string>> hidden = {};
};

/// Something to be asked about once more before it is done: without a script, and on the page where it stands.
struct confirmation {
    std::string_view label;   ///< opens it
    std::string_view about;   ///< what it is done to: told to those who hear a page on which several are called alike
    std::string warning;      ///< what will happen
    std::string_view button;  ///< does it
};

/// Begins a form; `</form>` ends it.
TOLLGATE_DECL void begin_form(http::html_writer& html, const form_target& to);

/// All faults in one place, each a link to its field, read out first. Nothing if there are none, or just one that
/// stands at its field: there the reader is taken anyway.
TOLLGATE_DECL void write_faults(http::html_writer& html, const form_faults& faults, const form_texts& texts);

TOLLGATE_DECL void write_text_field(http::html_writer& html, const text_field& field, const form_faults& faults,
                                    const form_texts& texts);

/// One box each, any number of which may be ticked. What is chosen arrives under one name. `text` is what the box
/// means, `value` stands beside it for those who know it.
TOLLGATE_DECL void write_checkboxes(http::html_writer& html, const choice_field& field, std::span<const choice> choices,
                                    const form_faults& faults, const form_texts& texts);

TOLLGATE_DECL void write_select(http::html_writer& html, const choice_field& field,
                                std::span<const choice_group> groups, const form_faults& faults,
                                const form_texts& texts);

TOLLGATE_DECL void write_confirmation(http::html_writer& html, const confirmation& asked, const form_target& to);

/// A text that is there to be copied.
struct copied_text {
    std::string_view name;  ///< tells it from others on the page
    std::string_view label;
    std::string_view text;
};
TOLLGATE_DECL void write_copied_text(http::html_writer& html, const copied_text& shown);

/// The members of a posted form, or why there are none: 413 for a body that was too large for the host, 415 for another
/// media type than `application/x-www-form-urlencoded`, 400 for bytes that are no form. An empty body is an empty form.
[[nodiscard]] TOLLGATE_DECL std::variant<http::form_fields, http::status> read_form(const http::request& asked);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/web/detail/form.ipp>
#endif
