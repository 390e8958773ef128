#pragma once

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_body.hpp>

#include <algorithm>
#include <bitset>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tollgate::inline v0::http {

namespace detail {

/// Reads one JSON text (RFC 8259) from front to back. Keeps the members of the top-level object and checks everything else.
/// Not recursive: depth costs a bit and a list of names per level. The first error ends it, so that a bound stops a text
/// which exceeds it at that place.
class json_reader {
public:
    json_reader(std::string_view bytes, bool object_only) noexcept : rest_{bytes}, object_only_{object_only} {}

    /// False for an error, which `why` tells.
    [[nodiscard]] bool read();
    [[nodiscard]] error why() const { return malformed(why_); }
    [[nodiscard]] json_object members() && { return json_object{std::move(members_)}; }

private:
    bool read_value();
    bool read_name();
    bool read_text();
    bool read_escape();
    bool read_hex(std::uint32_t& unit);
    bool read_number();
    bool read_literal(std::string_view literal, json_kind kind, std::string_view value);
    bool begin(bool is_object);
    bool found(json_kind kind, std::string_view value);
    /// Behind a value: ends what ends there. `more` is whether another value follows.
    bool read_separators(bool& more);

    void skip_blanks() noexcept { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
    bool take(char c) noexcept {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    bool refuse(const char* why) noexcept {
        why_ = why;
        return false;
    }
    bool refuse_syntax() noexcept { return refuse("The body is not valid JSON in UTF-8."); }

    std::string_view rest_;
    bool object_only_;
    const char* why_ = "";
    std::string text_;  // of the name or string that was read last
    std::vector<json_member> members_;
    std::size_t depth_ = 0;
    std::bitset<limits::json_depth_max> is_object_;  // of each open object or array
    std::vector<std::vector<std::string>> names_;    // of each open object, sorted; reused from level to level
};

inline bool json_reader::read() {
    if (rest_.empty()) return refuse("The body is missing.");
    // RFC 8259 section 8.1 forbids to send one, and allows to refuse it.
    if (rest_.starts_with("\xef\xbb\xbf")) return refuse("The body begins with a byte order mark.");
    if (rest_.find('\0') != std::string_view::npos) return refuse("The body holds a NUL byte.");
    for (bool more = true; more;)
        if (!read_value() || !read_separators(more)) return false;
    return rest_.empty() || refuse_syntax();
}

/// A value, or the beginning of an object or array up to where its first value is due.
inline bool json_reader::read_value() {
    for (;;) {
        skip_blanks();
        if (take('{')) {
            if (!begin(true)) return false;
            skip_blanks();
            if (rest_.starts_with('}')) return true;
            if (!read_name()) return false;
        } else if (take('[')) {
            if (!begin(false)) return false;
            skip_blanks();
            if (rest_.starts_with(']')) return true;
        } else if (take('"')) {
            return read_text() && found(json_kind::text, text_);
        } else if (rest_.starts_with('-') || (!rest_.empty() && is_digit(rest_.front()))) {
            return read_number();
        } else {
            return read_literal("null", json_kind::null, {}) || read_literal("true", json_kind::boolean, "true") ||
                   read_literal("false", json_kind::boolean, "false") || (*why_ == '\0' && refuse_syntax());
        }
    }
}

inline bool json_reader::read_separators(bool& more) {
    skip_blanks();
    for (; depth_ != 0; skip_blanks()) {
        const bool in_object = is_object_[depth_ - 1];
        if (take(in_object ? '}' : ']')) {
            --depth_;
        } else if (take(',')) {
            skip_blanks();
            return !in_object || read_name();
        } else {
            return refuse_syntax();
        }
    }
    more = false;
    return true;
}

inline bool json_reader::begin(bool is_object) {
    if (!found(is_object ? json_kind::object : json_kind::array, {})) return false;
    if (depth_ == limits::json_depth_max) return refuse("The JSON is nested too deeply.");
    if (names_.size() == depth_) names_.emplace_back();
    names_[depth_].clear();
    is_object_[depth_++] = is_object;
    return true;
}

/// A member's name and the colon behind it.
inline bool json_reader::read_name() {
    if (!take('"')) return refuse_syntax();
    if (!read_text()) return false;
    auto& names = names_[depth_ - 1];
    if (names.size() == limits::json_members_max) return refuse("A JSON object has too many members.");
    const auto place = std::lower_bound(names.begin(), names.end(), text_);
    if (place != names.end() && *place == text_) return refuse("A JSON object has two members of the same name.");
    names.insert(place, text_);
    if (depth_ == 1 && object_only_) members_.push_back({text_, json_kind::null, {}});
    skip_blanks();
    return take(':') || refuse_syntax();
}

inline bool json_reader::found(json_kind kind, std::string_view value) {
    if (!object_only_) return true;
    if (depth_ == 0 && kind != json_kind::object) return refuse("The body is not a JSON object.");
    if (depth_ == 1) {
        members_.back().kind = kind;
        members_.back().value = value;
    }
    return true;
}

inline bool json_reader::read_literal(std::string_view literal, json_kind kind, std::string_view value) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return found(kind, value);
}

/// Into `text_`, from behind the opening quote to behind the closing one.
inline bool json_reader::read_text() {
    text_.clear();
    while (!rest_.empty()) {
        if (take('"')) return true;
        if (take('\\')) {
            if (!read_escape()) return false;
            continue;
        }
        const std::size_t bytes = utf8_sequence_bytes(rest_);
        if (bytes == 0 || static_cast<unsigned char>(rest_.front()) < 0x20) break;
        text_.append(rest_.substr(0, bytes));
        rest_.remove_prefix(bytes);
    }
    return refuse_syntax();
}

inline bool json_reader::read_escape() {
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return refuse_syntax();
    const char name = rest_.front();
    rest_.remove_prefix(1);
    if (name != 'u') {
        const auto at = names.find(name);
        if (at == std::string_view::npos) return refuse_syntax();
        text_.push_back(values[at]);
        return true;
    }
    std::uint32_t code = 0, low = 0;
    if (!read_hex(code)) return false;
    if (code >= 0xd800 && code <= 0xdfff) {  // a surrogate pair stands for one character (section 7)
        if (code >= 0xdc00 || !take('\\') || !take('u')) return refuse_syntax();
        if (!read_hex(low)) return false;
        if (low < 0xdc00 || low > 0xdfff) return refuse_syntax();
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    const auto add = [this](std::uint32_t byte) { text_.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
    if (code < 0x80) {
        add(code);
        return true;
    }
    if (code < 0x800) {
        add(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            add(0xe0 | code >> 12);
        } else {
            add(0xf0 | code >> 18);
            add(0x80 | (code >> 12 & 0x3f));
        }
        add(0x80 | (code >> 6 & 0x3f));
    }
    add(0x80 | (code & 0x3f));
    return true;
}

inline bool json_reader::read_hex(std::uint32_t& unit) {
    constexpr std::size_t digits = 4;
    const char* const end = rest_.data() + std::min(digits, rest_.size());
    const auto done = std::from_chars(rest_.data(), end, unit, 16);
    if (rest_.size() < digits || rest_.front() == '-' || done.ec != std::errc{} || done.ptr != end) return refuse_syntax();
    rest_.remove_prefix(digits);
    return true;
}

/// Whether a number is at most the largest double, which is 1.797693134862315708...e308 and takes whatever rounds to it.
/// `digits` is a JSON number without its sign. Readers would make infinity of any other one, or an error.
[[nodiscard]] inline bool fits_double(std::string_view digits) noexcept {
    constexpr std::int64_t exponent_max = 308;
    constexpr std::uint64_t leading_max = 1'797'693'134'862'315'807;  // what rounds to the largest double, in 19 digits
    constexpr int leading_digits = 19;
    std::uint64_t leading = 0;
    int taken = 0;               // significant digits in `leading`
    std::int64_t exponent = -1;  // of the first significant digit
    bool is_fraction = false;
    for (; !digits.empty() && (is_digit(digits.front()) || digits.front() == '.'); digits.remove_prefix(1)) {
        const char c = digits.front();
        if (c == '.') {
            is_fraction = true;
        } else {
            if (taken != 0 || c != '0') {
                if (taken < leading_digits) {
                    leading = leading * 10 + static_cast<std::uint64_t>(c - '0');
                    ++taken;
                }
                exponent += is_fraction ? 0 : 1;
            } else if (is_fraction) {
                --exponent;
            }
        }
    }
    if (taken == 0) return true;
    for (; taken < leading_digits; ++taken) leading *= 10;
    if (!digits.empty()) {  // `e`, `E`
        digits.remove_prefix(1);
        if (digits.front() == '+') digits.remove_prefix(1);
        std::int64_t sent = 0;
        const auto done = std::from_chars(digits.data(), digits.data() + digits.size(), sent);
        constexpr std::int64_t beyond = 1'000'000'000;  // larger than any body has digits
        if (done.ec != std::errc{} || sent > beyond || sent < -beyond) return digits.front() == '-';
        exponent += sent;
    }
    return exponent < exponent_max || (exponent == exponent_max && leading <= leading_max);
}

inline bool json_reader::read_number() {
    const std::string_view all = rest_;
    const auto skip_digits = [this] {
        const auto before = rest_.size();
        while (!rest_.empty() && is_digit(rest_.front())) rest_.remove_prefix(1);
        return rest_.size() != before;
    };
    const bool is_negative = take('-');
    const std::string_view positive = rest_;
    if (!take('0') && !skip_digits()) return refuse_syntax();
    bool is_integer = true;
    if (take('.')) {
        is_integer = false;
        if (!skip_digits()) return refuse_syntax();
    }
    if (take('e') || take('E')) {
        is_integer = false;
        if (!take('+')) take('-');
        if (!skip_digits()) return refuse_syntax();
    }
    const auto text = all.substr(0, all.size() - rest_.size());
    const auto digits = positive.substr(0, positive.size() - rest_.size());
    if (is_integer) {
        std::uint64_t value = 0;
        constexpr std::uint64_t negative_max = std::uint64_t{1} << 63;
        const auto done = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (done.ec == std::errc{} && (!is_negative || value <= negative_max))
            return found(json_kind::integer, value == 0 ? digits : text);  // `-0` is the integer 0
    }
    if (!fits_double(digits)) return refuse("A number in the JSON is out of range.");
    return found(json_kind::number, text);
}

}  // namespace detail

TOLLGATE_DECL result<json_object> parse_json_object(std::string_view bytes) {
    detail::json_reader reader{bytes, true};
    if (!reader.read()) return reader.why();
    return std::move(reader).members();
}

TOLLGATE_DECL result<void> check_json(std::string_view bytes) {
    detail::json_reader reader{bytes, false};
    if (!reader.read()) return reader.why();
    return {};
}

}  // namespace tollgate::http
