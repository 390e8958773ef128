#pragma once

#include <tollgate/base/ascii.hpp>
#include <tollgate/base/limits.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tollgate::http {

/// The request fields that some stage asks for on every request, found without comparing names again.
enum class field_id : std::uint8_t {
    other,
    host,
    user_agent,
    authorization,
    content_type,
    content_length,
    transfer_encoding,
    connection,
    expect,
    x_forwarded_for,
    forwarded,
    cookie,
    origin,
    referer,
    count_,  ///< how many there are; no field
};

[[nodiscard]] constexpr field_id to_field_id(std::string_view name) noexcept;

struct field {
    std::string_view name;   ///< a token, as sent
    std::string_view value;  ///< without whitespace at its ends, otherwise as sent
};

/// Field lines in the order they came: views of somebody else's bytes, a bounded number, nothing on the heap.
class field_lines {
public:
    static constexpr std::size_t size_max = limits::field_count_max;

    void clear() noexcept {
        size_ = 0;
        lookup_ = {};
    }

    /// False, and unchanged, when there are `size_max` already.
    bool add(std::string_view name, std::string_view value) noexcept { return add(to_field_id(name), name, value); }
    bool add(field_id id, std::string_view name, std::string_view value) noexcept;

    /// How many lines carry this name.
    [[nodiscard]] std::size_t count(field_id id) const noexcept { return lookup_[index(id)].lines; }

    /// The first line's value; empty when there is none (use `count` to tell that from an empty value).
    [[nodiscard]] std::string_view find(field_id id) const noexcept {
        const auto& known = lookup_[index(id)];
        return known.lines == 0 ? std::string_view{} : lines_[known.first].value;
    }
    /// The same by name, in any case; walks the lines.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept;

    [[nodiscard]] const field* begin() const noexcept { return lines_.data(); }
    [[nodiscard]] const field* end() const noexcept { return lines_.data() + size_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    struct known_line {
        std::uint8_t first = 0;
        std::uint8_t lines = 0;
    };
    static constexpr std::size_t index(field_id id) noexcept { return static_cast<std::size_t>(id); }

    std::array<field, size_max> lines_;  // only the first size_ are ever read
    std::size_t size_ = 0;
    std::array<known_line, static_cast<std::size_t>(field_id::count_)> lookup_{};
    static_assert(size_max <= UINT8_MAX);
};

constexpr field_id to_field_id(std::string_view name) noexcept {
    const auto is = [name](std::string_view lower, field_id id) { return ascii_iequals(name, lower) ? id : field_id::other; };
    switch (name.size()) {
        case 4: return is("host", field_id::host);
        case 6: {
            const char initial = ascii_lower(name.front());
            if (initial == 'e') return is("expect", field_id::expect);
            if (initial == 'o') return is("origin", field_id::origin);
            return is("cookie", field_id::cookie);
        }
        case 7: return is("referer", field_id::referer);
        case 9: return is("forwarded", field_id::forwarded);
        case 10: return ascii_lower(name.front()) == 'u' ? is("user-agent", field_id::user_agent)
                                                         : is("connection", field_id::connection);
        case 12: return is("content-type", field_id::content_type);
        case 13: return is("authorization", field_id::authorization);
        case 14: return is("content-length", field_id::content_length);
        case 15: return is("x-forwarded-for", field_id::x_forwarded_for);
        case 17: return is("transfer-encoding", field_id::transfer_encoding);
        default: return field_id::other;
    }
}

inline bool field_lines::add(field_id id, std::string_view name, std::string_view value) noexcept {
    if (size_ == size_max) return false;
    auto& known = lookup_[index(id)];
    if (known.lines++ == 0) known.first = static_cast<std::uint8_t>(size_);
    lines_[size_].name = name;
    lines_[size_].value = value;
    ++size_;
    return true;
}

inline std::string_view field_lines::find(std::string_view name) const noexcept {
    for (const field& line : *this)
        if (ascii_iequals(line.name, name)) return line.value;
    return {};
}

}  // namespace tollgate::http
