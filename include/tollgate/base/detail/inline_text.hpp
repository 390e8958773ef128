#pragma once
#ifndef TOLLGATE_BASE_DETAIL_INLINE_TEXT_HPP
#define TOLLGATE_BASE_DETAIL_INLINE_TEXT_HPP

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tollgate::inline v0::detail {

/// Text of at most `Capacity` bytes, stored inside the object. Copying never allocates, so a credential travels from a
/// store to an endpoint without heap memory.
template <std::size_t Capacity>
class inline_text {
    static_assert(Capacity <= UINT16_MAX);

    /// A copy of so few bytes, used or not, costs less than the call that copies only the used ones.
    static constexpr bool is_copied_whole = Capacity <= 64;

public:
    static constexpr std::size_t bytes_max = Capacity;

    constexpr inline_text() noexcept { clear_unused(); }

    /// From a literal of at most `Capacity` bytes; a longer one does not compile.
    template <std::size_t Size>
        requires(Size <= Capacity + 1)
    consteval inline_text(const char (&literal)[Size]) : inline_text{} {
        if (!append({literal, Size - 1})) throw "the literal is too long";
    }

    /// Empty when `text` is longer than `Capacity`.
    static constexpr std::optional<inline_text> from(std::string_view text) noexcept {
        std::optional<inline_text> copy;
        if (text.size() <= Capacity) copy.emplace().assign(text);
        return copy;
    }

    constexpr inline_text(const inline_text& other) noexcept
        requires(is_copied_whole)
    = default;
    constexpr inline_text(const inline_text& other) noexcept {
        clear_unused();
        *this = other;
    }
    constexpr inline_text& operator=(const inline_text& other) noexcept
        requires(is_copied_whole)
    = default;
    constexpr inline_text& operator=(const inline_text& other) noexcept {
        if (this != &other) assign(other.view());
        return *this;
    }

    [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes_.data(), size_}; }
    constexpr operator std::string_view() const noexcept { return view(); }
    [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

    /// Returns false and changes nothing if the result would not fit.
    constexpr bool append(std::string_view text) noexcept {
        if (text.size() > Capacity - size_) return false;
        std::char_traits<char>::copy(bytes_.data() + size_, text.data(), text.size());
        size_ = static_cast<std::uint16_t>(size_ + text.size());
        return true;
    }
    constexpr void clear() noexcept { size_ = 0; }

    friend constexpr bool operator==(const inline_text& a, const inline_text& b) noexcept { return a.view() == b.view(); }
    friend constexpr bool operator==(const inline_text& a, std::string_view b) noexcept { return a.view() == b; }
    template <std::size_t Size>
    friend constexpr bool operator==(const inline_text& a, const char (&b)[Size]) noexcept {
        return a.view() == std::string_view{b};
    }
    friend constexpr auto operator<=>(const inline_text& a, const inline_text& b) noexcept { return a.view() <=> b.view(); }

private:
    constexpr void assign(std::string_view text) noexcept {
        size_ = static_cast<std::uint16_t>(text.size());
        if (!text.empty()) std::char_traits<char>::copy(bytes_.data(), text.data(), text.size());
    }

    /// Gives every byte a value where all are copied, and in constant evaluation, which requires it.
    constexpr void clear_unused() noexcept {
        if (is_copied_whole || std::is_constant_evaluated()) bytes_.fill('\0');
    }

    std::uint16_t size_ = 0;
    std::array<char, Capacity> bytes_;  // large arrays are deliberately uninitialized: only the first size_ bytes are read
};

}  // namespace tollgate::detail

#endif  // TOLLGATE_BASE_DETAIL_INLINE_TEXT_HPP
