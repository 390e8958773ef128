#pragma once
#ifndef TOLLGATE_WEB_HTML_WRITER_HPP
#define TOLLGATE_WEB_HTML_WRITER_HPP

#include <tollgate/base/config.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

namespace tollgate::inline v0 {

/// HTML with a `{}` for each inserted text. Only literals convert to it, so that user data cannot become markup. The compiler checks the
/// number of placeholders.
template <class... Texts>
class html_template {
public:
    /// Constructs the template from a literal with a `{}` for each text. A wrong count does not compile.
    consteval html_template(const char* literal) : text_{literal} {
        std::size_t places = 0;
        for (auto at = text_.find("{}"); at != std::string_view::npos; at = text_.find("{}", at + 2)) ++places;
        if (places != sizeof...(Texts)) throw "a template has one {} for each text";
    }
    /// Returns the literal.
    [[nodiscard]] constexpr std::string_view view() const noexcept { return text_; }

private:
    std::string_view text_;
};

/// Appends HTML to a string. Texts are escaped for element content and quoted attribute values; they must not be inserted into scripts,
/// style sheets or unquoted attributes. ASCII control characters other than white space become U+FFFD, because HTML does not allow them.
///
///     html_writer page{out};
///     page.add("<h1 id=\"{}\">{}</h1>", anchor, title);
class html_writer {
public:
    /// Constructs a writer that appends to `out`, which must outlive the writer.
    explicit html_writer(std::string& out) noexcept : out_{&out} {}

    /// Appends markup in which each `{}` is replaced by a text, escaped.
    template <class... Texts>
    html_writer& add(std::type_identity_t<html_template<Texts...>> markup, const Texts&... texts) {
        std::string_view left = markup.view();
        (put(left, texts), ...);
        out_->append(left);
        return *this;
    }

private:
    template <class Text>
    void put(std::string_view& markup, const Text& text);
    void escape(std::string_view text);
    [[nodiscard]] static constexpr bool is_allowed(char c) noexcept {
        const auto code = static_cast<unsigned char>(c);
        return (code >= 0x20 && code != 0x7f) || c == '\t' || c == '\n' || c == '\f' || c == '\r';
    }

    std::string* out_;
};

template <class Text>
void html_writer::put(std::string_view& markup, const Text& text) {
    const auto place = markup.find("{}");
    out_->append(markup.substr(0, place));
    markup.remove_prefix(place + 2);
    if constexpr (std::integral<Text>) {
        char digits[20];  // enough for 2^64 - 1, and for -2^63 with its sign
        const auto done = std::to_chars(digits, digits + sizeof digits, text);
        out_->append(digits, done.ptr);
    } else {
        escape(text);
    }
}

inline void html_writer::escape(std::string_view text) {
    for (char c : text) {
        switch (c) {
            case '&': out_->append("&amp;"); break;
            case '<': out_->append("&lt;"); break;
            case '>': out_->append("&gt;"); break;
            case '"': out_->append("&quot;"); break;
            case '\'': out_->append("&#39;"); break;
            default:
                if (is_allowed(c)) out_->push_back(c);
                else out_->append("\xef\xbf\xbd");  // U+FFFD
        }
    }
}

}  // namespace tollgate

#endif  // TOLLGATE_WEB_HTML_WRITER_HPP
