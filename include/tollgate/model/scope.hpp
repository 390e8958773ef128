#pragma once
#ifndef TOLLGATE_MODEL_SCOPE_HPP
#define TOLLGATE_MODEL_SCOPE_HPP

#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/limits.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tollgate::inline v0 {

/// Returns true for a scope-token of RFC 6749 section 3.3, which is visible ASCII without `"` and `\`, that contains no comma: commas
/// separate scopes in this API.
[[nodiscard]] constexpr bool is_scope_token(std::string_view text) noexcept {
    if (text.empty()) return false;
    for (char c : text)
        if (!detail::is_visible_ascii(c) || c == '"' || c == '\\' || c == ',') return false;
    return true;
}

/// The scopes of a credential, in the order of the request, without duplicates. They are kept as one text with single spaces, which is also
/// their stored and displayed form. The class does not allocate.
class scope_set {
public:
    constexpr scope_set() noexcept = default;

    /// Parses a list separated by commas, spaces or both, and drops duplicates. Returns an empty optional for a byte that scopes cannot
    /// contain, for a list of more than `limits::scope_list_bytes_max` bytes, and for more than `limits::scope_text_bytes_max` bytes of
    /// scopes. The result for an empty list is an empty set. Takes linear time.
    static constexpr std::optional<scope_set> parse(std::string_view list) noexcept;

    /// Returns the set with this `text()`, for stores. Precondition: `text` is the `text()` of a set; other text is not detected.
    static constexpr scope_set from_text(std::string_view text) noexcept {
        scope_set set;
        static_cast<void>(set.text_.append(text));
        return set;
    }

    /// Adds a scope. Returns false and changes nothing for a text that is not a scope (`is_scope_token`), and if the scope does not fit.
    /// Adding an existing scope returns true.
    constexpr bool add(std::string_view scope) noexcept;

    /// Returns true if the set contains the scope, by its exact name.
    [[nodiscard]] constexpr bool contains(std::string_view scope) const noexcept;
    /// Returns true if the set contains all scopes of `others`, by their exact names. Does not consider that a scope may cover another.
    [[nodiscard]] constexpr bool contains_all(const scope_set& others) const noexcept;
    [[nodiscard]] constexpr bool empty() const noexcept { return text_.empty(); }
    /// Returns the scopes separated by single spaces (RFC 6749 section 5.1).
    [[nodiscard]] constexpr std::string_view text() const noexcept { return text_.view(); }

    /// Calls `visit(scope)` for each scope until it returns false. Returns false in that case, otherwise true.
    template <class Visit>
    constexpr bool for_each(Visit&& visit) const;

    /// Returns true if both have the same scopes in the same order.
    friend constexpr bool operator==(const scope_set&, const scope_set&) noexcept = default;

private:
    detail::inline_text<limits::scope_text_bytes_max> text_;
};

template <class Visit>
constexpr bool scope_set::for_each(Visit&& visit) const {
    std::string_view left = text_.view();
    while (!left.empty()) {
        const auto space = left.find(' ');
        if (!visit(left.substr(0, space))) return false;
        left = space == std::string_view::npos ? std::string_view{} : left.substr(space + 1);
    }
    return true;
}

constexpr bool scope_set::contains(std::string_view scope) const noexcept {
    return !for_each([scope](std::string_view held) { return held != scope; });
}

constexpr bool scope_set::contains_all(const scope_set& others) const noexcept {
    return others.for_each([this](std::string_view each) { return contains(each); });
}

constexpr bool scope_set::add(std::string_view scope) noexcept {
    if (!is_scope_token(scope)) return false;
    if (contains(scope)) return true;
    auto grown = text_;
    if (!grown.empty() && !grown.append(" ")) return false;
    if (!grown.append(scope)) return false;
    text_ = grown;
    return true;
}

namespace detail {

/// Returns a hash with a random key, because clients choose scopes. At compile time there is no key, and the program chooses the scopes.
[[nodiscard]] constexpr std::size_t hash_of_scope(std::string_view scope) noexcept {
    if (!std::is_constant_evaluated()) return detail::shared_keyed_hash()(scope);
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (char c : scope) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    return hash;
}

/// A hash table of the start positions of a set's scopes: linear probing in a table that is at most half full.
class scope_positions {
public:
    /// Returns true if `scope` is in `text`; otherwise records the position at which it will be appended.
    constexpr bool find_or_add(std::string_view text, std::string_view scope, std::size_t begins_at) noexcept {
        for (std::size_t i = hash_of_scope(scope) % slot_count;; i = (i + 1) % slot_count) {
            if (begins_[i] == 0) {
                begins_[i] = static_cast<std::uint16_t>(begins_at + 1);
                return false;
            }
            const auto held = text.substr(begins_[i] - 1U);
            if (held.substr(0, held.find(' ')) == scope) return true;
        }
    }

private:
    static constexpr std::size_t slot_count = limits::scope_text_bytes_max;  // a scope and its separator take two bytes
    std::array<std::uint16_t, slot_count> begins_{};
};

}  // namespace detail

constexpr std::optional<scope_set> scope_set::parse(std::string_view list) noexcept {
    if (list.size() > limits::scope_list_bytes_max) return std::nullopt;
    std::optional<scope_set> set{std::in_place};
    detail::scope_positions known;
    while (!list.empty()) {
        const auto end = list.find_first_of(", ");
        const auto scope = list.substr(0, end);
        list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 1);
        if (scope.empty()) continue;
        if (!is_scope_token(scope)) return std::nullopt;
        auto& text = set->text_;
        if (known.find_or_add(text.view(), scope, text.size() + (text.empty() ? 0U : 1U))) continue;
        if ((!text.empty() && !text.append(" ")) || !text.append(scope)) return std::nullopt;
    }
    return set;
}

}  // namespace tollgate

#endif  // TOLLGATE_MODEL_SCOPE_HPP
