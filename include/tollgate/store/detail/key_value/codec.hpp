#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_CODEC_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_CODEC_HPP

#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/store/detail/key_value/big_endian.hpp>
#include <tollgate/store/detail/last_value.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// The binary form of records, which docs/stores.md describes: a byte with the version, then the fields in their order.

namespace tollgate::inline v0::key_value_detail {

/// The version of the form of all records. A later version can read the records of this one.
inline constexpr char record_version = 1;

/// A record lists its fields once: `R::fields(record, visit)` calls `visit(field...)`, to write them and to read them.
template <class R>
concept record = requires(R& r) { R::fields(r, [](auto&...) {}); };

/// Calls `write` for the parts of the form of fields: write(number) for its bytes in big-endian order, and write(text) for the text alone.
template <class Write>
class encoder {
public:
    explicit encoder(Write& write) noexcept : write_{write} {}

    void operator()(const auto&... fields) { (put(fields), ...); }

private:
    void put_text(std::string_view text) {
        write_(static_cast<std::uint32_t>(text.size()));
        write_(text);
    }

    void put(bool value) { write_(static_cast<std::uint8_t>(value)); }
    void put(std::uint32_t value) { write_(value); }
    void put(std::uint64_t value) { write_(value); }
    void put(std::int64_t value) { write_(static_cast<std::uint64_t>(value)); }
    void put(instant value) { put(std::int64_t{to_unix_milliseconds(value)}); }
    void put(milliseconds value) { put(std::int64_t{value.count()}); }
    void put(const digest& value) { write_(value.raw()); }
    void put(const std::string& value) { put_text(value); }
    void put(std::string_view value) { put_text(value); }
    template <class Tag>
    void put(id<Tag> value) {
        put(value.value());
    }
    template <class E>
        requires std::is_enum_v<E>
    void put(E value) {
        write_(static_cast<std::uint8_t>(value));
    }
    template <std::size_t Capacity>
    void put(const detail::inline_text<Capacity>& value) {
        put_text(value.view());
    }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class T>
    void put(const std::vector<T>& values) {
        write_(static_cast<std::uint32_t>(values.size()));
        for (const T& each : values) put(each);
    }
    template <record R>
    void put(const R& value) {
        R::fields(value, *this);
    }

    Write& write_;
};
/// Each is the `write` of an encoder: one counts bytes, the other one stores them.
struct byte_counter {
    std::size_t bytes = 0;

    template <std::unsigned_integral N>
    void operator()(N) noexcept {
        bytes += sizeof(N);
    }
    void operator()(std::string_view text) noexcept { bytes += text.size(); }
};
struct byte_writer {
    char* next;

    template <std::unsigned_integral N>
    void operator()(N number) noexcept {
        store_big_endian(number, next);
        next += sizeof(N);
    }
    void operator()(std::string_view text) noexcept {
        if (!text.empty()) std::memcpy(next, text.data(), text.size());
        next += text.size();
    }
};

/// Reads what an `encoder` wrote. Anything else is damage, from which on it reads nothing more.
class decoder {
public:
    explicit decoder(std::string_view in) noexcept : next_{in.data()}, end_{in.data() + in.size()} {}

    [[gnu::always_inline]] void operator()(auto&... fields) { (get(fields), ...); }

    /// Returns true if every byte was read, and each was valid.
    [[nodiscard]] bool has_read_all() const noexcept { return !is_damaged_ && next_ == end_; }

private:
    // Inlined: a look-up of a credential mostly runs these.
    [[gnu::always_inline]] std::string_view take(std::size_t bytes) noexcept {
        if (static_cast<std::size_t>(end_ - next_) < bytes) [[unlikely]] {
            is_damaged_ = true;
            next_ = end_;  // so that nothing more is read
            return {};
        }
        return {std::exchange(next_, next_ + bytes), bytes};
    }
    template <std::unsigned_integral N>
    [[gnu::always_inline]] N take_number() noexcept {
        const std::string_view bytes = take(sizeof(N));
        return bytes.empty() ? N{0} : load_big_endian<N>(bytes.data());
    }
    [[gnu::always_inline]] std::string_view take_text() noexcept { return take(take_number<std::uint32_t>()); }
    /// Assigns a value that may not exist for these bytes.
    template <class T>
    [[gnu::always_inline]] void assign(T& value, const std::optional<T>& read) noexcept {
        if (read) value = *read;
        else is_damaged_ = true;
    }

    [[gnu::always_inline]] void get(bool& value) noexcept {
        const auto byte = take_number<std::uint8_t>();
        is_damaged_ = is_damaged_ || byte > 1;
        value = byte == 1;
    }
    void get(std::uint32_t& value) noexcept { value = take_number<std::uint32_t>(); }
    [[gnu::always_inline]] void get(std::uint64_t& value) noexcept { value = take_number<std::uint64_t>(); }
    [[gnu::always_inline]] void get(std::int64_t& value) noexcept { value = static_cast<std::int64_t>(take_number<std::uint64_t>()); }
    [[gnu::always_inline]] void get(instant& value) noexcept {
        value = from_unix_milliseconds(static_cast<std::int64_t>(take_number<std::uint64_t>()));
    }
    void get(milliseconds& value) noexcept { value = milliseconds{static_cast<std::int64_t>(take_number<std::uint64_t>())}; }
    [[gnu::always_inline]] void get(digest& value) noexcept { assign(value, digest::from(take(digest::size_bytes))); }
    void get(std::string& value) { value = take_text(); }
    [[gnu::always_inline]] void get(std::string_view& value) noexcept { value = take_text(); }
    template <class Tag>
    [[gnu::always_inline]] void get(id<Tag>& value) noexcept {
        assign(value, id<Tag>::from(static_cast<std::int64_t>(take_number<std::uint64_t>())));
    }
    template <class E>
        requires std::is_enum_v<E>
    void get(E& value) noexcept {
        static_assert(std::same_as<decltype(tollgate::detail::last_value<E>), const E>, "the enumeration needs a last_value");
        const auto byte = take_number<std::uint8_t>();
        is_damaged_ = is_damaged_ || byte > static_cast<std::uint8_t>(tollgate::detail::last_value<E>);
        if (!is_damaged_) value = static_cast<E>(byte);
    }
    template <std::size_t Capacity>
    void get(detail::inline_text<Capacity>& value) noexcept {
        assign(value, detail::inline_text<Capacity>::from(take_text()));
    }
    template <class T>
    [[gnu::always_inline]] void get(std::optional<T>& value) {
        bool has_value = false;
        get(has_value);
        if (!has_value) return value.reset();
        if constexpr (std::is_default_constructible_v<T>) value.emplace();
        else value.emplace(1);  // an id
        get(*value);
    }
    template <class T>
    void get(std::vector<T>& values) {
        values.clear();
        for (auto left = take_number<std::uint32_t>(); left != 0 && !is_damaged_; --left) get(values.emplace_back());
    }
    template <record R>
    void get(R& value) {
        R::fields(value, *this);
    }

    const char* next_;
    const char* end_;
    bool is_damaged_ = false;
};

/// Replaces `out` by the record's bytes. Its memory is used again.
template <record R>
void encode(const R& from, std::string& out) {
    byte_counter counter;
    R::fields(from, encoder{counter});
    out.resize(1 + counter.bytes);
    out.front() = record_version;
    byte_writer writer{out.data() + 1};
    R::fields(from, encoder{writer});
}

/// Reads a record from exactly the bytes that `encode` wrote. Returns false, and `into` has any content, if they are not: truncated, with
/// further bytes, with a value that does not exist, or of another version. Fields of type std::string_view view `bytes`.
template <record R>
[[nodiscard]] bool decode(std::string_view bytes, R& into) {
    if (bytes.empty() || bytes.front() != record_version) return false;
    decoder read{bytes.substr(1)};
    R::fields(into, read);
    return read.has_read_all();
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_CODEC_HPP
