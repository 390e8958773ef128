#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_KEYS_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_KEYS_HPP

#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/key_value/big_endian.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tollgate::inline v0::key_value_detail {

/// The first byte of a key. Keys of a capital letter are only read and written one by one; those of a small letter are scanned.
/// docs/stores.md lists what follows each, and the values.
enum class table : char {
    counters = '#',                 // table
    counts = 'B',                   // table, or table and user or host: only if rows are bounded
    unsent = 'O',                   // hook: only if rows are bounded

    personal_tokens = 'T',          // username
    usernames = 'I',                // token
    tokens_of_user = 'u',           // user, token
    access_tokens = 'A',            // digest
    access_tokens_of_grant = 'b',   // application, user, end, digest

    hooks = 'H',                    // hook
    hook_requests = 'Q',            // idempotency key
    hooks_of_event = 'l',           // service, account, event, hook
    deleted_hooks = 'g',            // hook

    events = 'E',                   // digest of the event
    event_counts = 'L',             // digest of the event
    last_deliveries = 'N',          // hook
    deliveries = 'd',               // hook, ~delivery
    due_deliveries = 'p',           // hook, time, delivery: waiting, and leased until that time
    leases_of_host = 'x',           // host, end, delivery
    ended_deliveries = 'z',         // time, delivery: delivered or given up at that time
    held_deliveries = 'y',          // hook, delivery
    held_by_time = 't',             // time, delivery: held since then
    ready_times = 'R',              // hook
    ready_hooks = 'q',              // time, hook
    histories = 'M',                // hook
    attempts = 'm',                 // delivery, ~number

    applications = 'P',             // application
    client_ids = 'c',               // client_id
    applications_of_owner = 'o',    // owner, application
    ended_applications = 'a',       // application: suspended or deleted
    grants = 'w',                   // application, user
    grants_of_user = 'v',           // user, application
    user_counts = 'W',              // application
    codes = 'K',                    // digest
    codes_of_grant = 'k',           // application, user, number, digest
    refresh_tokens = 'F',           // digest
    refresh_tokens_of_grant = 'f',  // application, user, number, digest
    token_families = 'Y',           // digest of the family
    device_codes = 'V',             // digest of the device's code
    device_user_codes = 'U',        // digest of the user's code
    device_codes_of = 'j',          // application, number, digest of the device's code
    device_lists = 'r',             // application
    expiries = 'e',                 // end, table, digest

    sessions = 'S',                 // cookie
    sessions_of_user = 's',         // user, last use, cookie
    sessions_by_creation = 'h',     // creation, cookie
    sessions_by_use = 'i',          // last use, cookie
};

/// A key: a table and the parts that name the row in it. Numbers and times have 8 bytes, big-endian, so that bytes sort as they do.
class key {
public:
    explicit key(table first) noexcept { bytes_[0] = static_cast<char>(first); }
    key(const key& other) noexcept : size_{other.size_} { std::memcpy(bytes_.data(), other.bytes_.data(), size_); }
    key& operator=(const key& other) noexcept {
        std::memmove(bytes_.data(), other.bytes_.data(), size_ = other.size_);
        return *this;
    }
    ~key() = default;

    key& number(std::uint64_t n) noexcept {
        assert(sizeof n <= bytes_.size() - size_);
        store_big_endian(n, bytes_.data() + size_);
        size_ += sizeof n;
        return *this;
    }
    /// A number that sorts in reverse: there is no scan backwards.
    key& newest_first(std::uint64_t n) noexcept { return number(~n); }
    template <class Tag>
    key& id(tollgate::id<Tag> value) noexcept {
        return number(static_cast<std::uint64_t>(value.value()));
    }
    template <class Tag>
    key& newest_first(tollgate::id<Tag> value) noexcept {
        return newest_first(static_cast<std::uint64_t>(value.value()));
    }
    /// A time: milliseconds since 1970 plus 2^63, so that earlier years sort first.
    key& at(instant time) noexcept { return number(static_cast<std::uint64_t>(to_unix_milliseconds(time)) ^ sign); }
    /// The first key after those with this time.
    key& after(instant time) noexcept { return at(time + milliseconds{1}); }
    key& bytes(const digest& value) noexcept { return raw(value.raw()); }
    /// A text of at most 64 bytes, the last part.
    key& raw(std::string_view text) noexcept {
        assert(text.size() <= bytes_.size() - size_);
        std::memcpy(bytes_.data() + size_, text.data(), text.size());
        size_ += text.size();
        return *this;
    }
    key& of(table named) noexcept {
        push(static_cast<char>(named));
        return *this;
    }
    /// A text before other parts: its length and its bytes, or 255 and its digest if it is long.
    key& text(std::string_view value) {
        if (value.size() > short_text_bytes_max) return raw("\xff").bytes(sha256(value));
        push(static_cast<char>(value.size()));
        return raw(value);
    }

    /// The end of the range of the keys that begin with this one. It is never empty, because no table is 255.
    [[nodiscard]] key end() const noexcept {
        key next = *this;
        while (static_cast<unsigned char>(next.bytes_[next.size_ - 1]) == 0xff) --next.size_;
        ++next.bytes_[next.size_ - 1];
        return next;
    }

    operator std::string_view() const noexcept { return {bytes_.data(), size_}; }

private:
    static constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    static constexpr std::size_t short_text_bytes_max = 64;  // four parts of this size are within `limits::store_key_bytes_max`
    friend instant time_at(std::string_view bytes, std::size_t place) noexcept;

    void push(char byte) noexcept {
        assert(size_ < bytes_.size());
        bytes_[size_++] = byte;
    }

    std::array<char, limits::store_key_bytes_max> bytes_;  // only the first size_ are set
    std::size_t size_ = 1;
};

/// The 8 bytes of a number, as a value.
class number_value {
public:
    explicit number_value(std::uint64_t number) noexcept { store_big_endian(number, bytes_.data()); }
    template <class Tag>
    explicit number_value(id<Tag> value) noexcept : number_value{static_cast<std::uint64_t>(value.value())} {}

    operator std::string_view() const noexcept { return {bytes_.data(), bytes_.size()}; }

private:
    std::array<char, 8> bytes_;
};

/// Reads the number at a place of a key or value; 0 if it is too short, which no id is.
[[nodiscard]] inline std::uint64_t number_at(std::string_view bytes, std::size_t place) noexcept {
    return bytes.size() < place + 8 ? 0 : load_big_endian<std::uint64_t>(bytes.data() + place);
}
[[nodiscard]] inline std::uint64_t last_number(std::string_view key) noexcept {
    return key.size() < 8 ? 0 : number_at(key, key.size() - 8);
}
[[nodiscard]] inline instant time_at(std::string_view key, std::size_t place) noexcept {
    return from_unix_milliseconds(static_cast<std::int64_t>(number_at(key, place) ^ key::sign));
}
/// Reads the digest at the end of a key, or a value that is one; zero if there is none, which no credential has.
[[nodiscard]] inline digest last_digest(std::string_view key) noexcept {
    if (key.size() < digest::size_bytes) return {};
    return digest::from(key.substr(key.size() - digest::size_bytes)).value_or(digest{});
}
/// The id with a number that a key or value has; empty for none.
template <class Id>
[[nodiscard]] std::optional<Id> id_of(std::uint64_t number) noexcept {
    return Id::from(static_cast<std::int64_t>(number));
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_KEYS_HPP
