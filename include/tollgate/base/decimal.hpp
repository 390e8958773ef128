#pragma once
#ifndef TOLLGATE_BASE_DECIMAL_HPP
#define TOLLGATE_BASE_DECIMAL_HPP

#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tollgate::inline v0 {

/// A decimal number as its digits: the text of a JSON number (RFC 8259 section 6) without an exponent. Nothing is
/// calculated or rounded: the client gets exactly the digits of the directory, never a binary floating-point value.
class decimal {
public:
    /// The maximum length in bytes.
    static constexpr std::size_t bytes_max = limits::decimal_text_bytes_max;

    /// Zero, `0`.
    constexpr decimal() noexcept { text_.append("0"); }

    /// Constructs the number from a literal such as `"12.50"`, which is checked at compile time.
    consteval decimal(const char* literal) {
        if (!is_decimal(literal)) throw "a decimal is the text of a JSON number without an exponent";
        text_.append(literal);
    }

    /// Parses the text of a JSON number. Returns an empty optional for text that is not a JSON number (such as +1, .5, 01, or digits after
    /// a space), has an exponent, or is longer than `bytes_max`. A negative zero keeps its sign.
    static constexpr std::optional<decimal> parse(std::string_view text) noexcept;

    /// Returns an amount in minor units such as cents as a decimal: `from_minor_units(-350, 2)` is -3.50. Precondition: digits <= 18.
    static constexpr decimal from_minor_units(std::int64_t amount, unsigned digits) noexcept;

    /// Returns the digits exactly as they were given.
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_.view(); }

    /// Compares digits: `0.1` and `0.10` differ.
    friend constexpr bool operator==(const decimal& a, const decimal& b) noexcept { return a.text() == b.text(); }

private:
    static constexpr bool is_decimal(std::string_view text) noexcept;

    detail::inline_text<bytes_max> text_;
};

constexpr bool decimal::is_decimal(std::string_view text) noexcept {
    if (text.size() > bytes_max) return false;
    const auto skip_digits = [&text]() noexcept {
        std::size_t count = 0;
        while (count < text.size() && detail::is_digit(text[count])) ++count;
        text.remove_prefix(count);
        return count;
    };
    if (!text.empty() && text.front() == '-') text.remove_prefix(1);
    const bool leading_zero = !text.empty() && text.front() == '0';
    const std::size_t whole = skip_digits();
    if (whole == 0 || (leading_zero && whole > 1)) return false;
    if (text.empty()) return true;
    if (text.front() != '.') return false;
    text.remove_prefix(1);
    return skip_digits() > 0 && text.empty();
}

constexpr std::optional<decimal> decimal::parse(std::string_view text) noexcept {
    std::optional<decimal> number;
    if (is_decimal(text)) {
        number.emplace();
        number->text_.clear();
        number->text_.append(text);
    }
    return number;
}

constexpr decimal decimal::from_minor_units(std::int64_t amount, unsigned digits) noexcept {
    assert(digits <= 18);
    char reversed[bytes_max]{};
    std::size_t size = 0;
    // Negated as unsigned, because the smallest integer has no positive counterpart.
    std::uint64_t left = amount < 0 ? 0 - static_cast<std::uint64_t>(amount) : static_cast<std::uint64_t>(amount);
    for (unsigned place = 0; place <= digits || left != 0; ++place, left /= 10) {
        if (place == digits && digits != 0) reversed[size++] = '.';
        reversed[size++] = static_cast<char>('0' + left % 10);
    }
    if (amount < 0) reversed[size++] = '-';

    decimal number;
    number.text_.clear();
    while (size > 0) number.text_.append({&reversed[--size], 1});
    return number;
}

}  // namespace tollgate

#endif  // TOLLGATE_BASE_DECIMAL_HPP
