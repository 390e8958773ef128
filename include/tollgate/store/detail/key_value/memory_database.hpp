#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/keyed_hash.hpp>
#include <tollgate/base/digest.hpp>
#include <tollgate/base/limits.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/key_value_store.hpp>
#include <tollgate/store/detail/key_value/big_endian.hpp>
#include <tollgate/store/detail/key_value/keys.hpp>
#include <tollgate/model/personal_token.hpp>
#include <tollgate/store/detail/memory/sharded_table.hpp>

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tollgate::inline v0::key_value_detail {

/// Bytes of any size; in the object itself if they are at most `InPlace`, so that reading them follows no pointer.
template <std::size_t InPlace>
class stored_bytes {
    static_assert(InPlace >= sizeof(char*));

public:
    explicit stored_bytes(std::string_view bytes) : size_{static_cast<std::uint32_t>(bytes.size())} {
        char* to = bytes_.data();
        if (is_elsewhere()) {
            to = new char[size_];
            std::memcpy(bytes_.data(), &to, sizeof to);
        }
        if (size_ != 0) std::memcpy(to, bytes.data(), size_);
    }
    stored_bytes(stored_bytes&& other) noexcept : bytes_{other.bytes_}, size_{std::exchange(other.size_, 0)} {}
    stored_bytes& operator=(stored_bytes&& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~stored_bytes() {
        if (is_elsewhere()) delete[] elsewhere();
    }

    [[nodiscard]] std::string_view view() const noexcept { return {is_elsewhere() ? elsewhere() : bytes_.data(), size_}; }

private:
    [[nodiscard]] bool is_elsewhere() const noexcept { return size_ > InPlace; }
    [[nodiscard]] char* elsewhere() const noexcept {
        char* at = nullptr;
        std::memcpy(&at, bytes_.data(), sizeof at);
        return at;
    }

    alignas(char*) std::array<char, InPlace> bytes_;  // only the first size_ are set, or a pointer, aligned for leak detectors
    std::uint32_t size_;
};

/// A key of a row in a map. Two keys of a table mostly differ in the number after it, so comparing them takes a few instructions.
class row_key {
public:
    explicit row_key(std::string_view bytes) : size_{static_cast<std::uint8_t>(bytes.size())} {
        static_assert(limits::store_key_bytes_max <= UINT8_MAX);
        if (is_long()) {
            all_ = new char[size_];
            std::memcpy(all_, bytes.data(), size_);
        }
        std::memcpy(first_.data(), bytes.data(), is_long() ? first_.size() : size_);
    }
    row_key(row_key&& other) noexcept : first_{other.first_}, size_{std::exchange(other.size_, std::uint8_t{0})}, all_{other.all_} {}
    row_key& operator=(row_key&&) = delete;
    ~row_key() {
        if (is_long()) delete[] all_;
    }

    [[nodiscard]] std::string_view view() const noexcept { return {is_long() ? all_ : first_.data(), size_}; }

    /// Precondition: both are of the same table.
    friend bool operator<(const row_key& a, const row_key& b) noexcept {
        const std::uint64_t x = a.word(0), y = b.word(0);
        return x != y ? x < y : is_less_after_first_word(a, b);
    }

private:
    static constexpr std::size_t words = 6;

    [[nodiscard]] bool is_long() const noexcept { return size_ > first_.size(); }
    [[nodiscard]] std::uint64_t word(std::size_t i) const noexcept {
        return load_big_endian<std::uint64_t>(first_.data() + 1 + i * sizeof(std::uint64_t));
    }
    [[nodiscard]] static bool is_less_after_first_word(const row_key& a, const row_key& b) noexcept {
        for (std::size_t i = 1; i < words; ++i)
            if (const std::uint64_t x = a.word(i), y = b.word(i); x != y) return x < y;
        return a.is_long() && b.is_long() ? a.view() < b.view() : a.size_ < b.size_;  // the others differ in zeros at their end
    }

    std::array<char, 1 + words * sizeof(std::uint64_t)> first_{};  // table and words; those after size_ are zero
    std::uint8_t size_;
    char* all_ = nullptr;  // the key, if it is long
};
/// The hash and the equality of a hash table that is also asked for the bytes of a key.
struct row_key_hash {
    using is_transparent = void;

    // Not noexcept: with such a hash, libstdc++ would not keep the hashes of the rows.
    [[nodiscard]] std::size_t operator()(const row_key& key) const { return hash(key.view()); }
    [[nodiscard]] std::size_t operator()(std::string_view key) const { return hash(key); }

    detail::keyed_hash hash{};
};
struct row_key_equality {
    using is_transparent = void;

    [[nodiscard]] bool operator()(const row_key& a, const row_key& b) const noexcept { return a.view() == b.view(); }
    [[nodiscard]] bool operator()(std::string_view a, const row_key& b) const noexcept { return a == b.view(); }
    [[nodiscard]] bool operator()(const row_key& a, std::string_view b) const noexcept { return a.view() == b; }
};

/// A map whose changes can be undone.
template <class Map>
class undoable_map {
public:
    [[nodiscard]] const Map& rows() const noexcept { return rows_; }
    [[nodiscard]] auto find(std::string_view key) const { return find_in(rows_, key); }

    void put(std::string_view key, std::string_view value) {
        if (undo_.size() == undo_.capacity()) undo_.reserve(2 * undo_.size() + 16);  // so that what was changed can be undone
        const auto [at, is_new] = rows_.try_emplace(row_key{key}, value);
        if (is_new) return undo_.push_back({.row = &*at});
        row_value put{value};
        std::swap(at->second, put);
        undo_.push_back({.row = &*at, .before = std::move(put)});
    }
    void erase(std::string_view key) {
        if (undo_.size() == undo_.capacity()) undo_.reserve(2 * undo_.size() + 16);
        if (const auto at = find_in(rows_, key); at != rows_.end()) undo_.push_back({.erased = rows_.extract(at)});
    }
    void commit() noexcept { undo_.clear(); }
    /// Takes back what was changed since the last `commit`. It allocates nothing: no hash table shrinks.
    void undo() noexcept {
        for (; !undo_.empty(); undo_.pop_back()) {
            step& last = undo_.back();
            if (last.erased) rows_.insert(std::move(last.erased));
            else if (last.before) std::swap(last.row->second, *last.before);
            else rows_.erase(rows_.find(last.row->first));
        }
    }

private:
    using row_value = typename Map::mapped_type;

    [[nodiscard]] static auto find_in(auto& rows, std::string_view key) {
        if constexpr (requires { rows.find(key); }) return rows.find(key);
        else return rows.find(row_key{key});
    }

    struct step {
        typename Map::value_type* row = nullptr;  // that was added or changed
        std::optional<row_value> before{};        // of a changed row
        typename Map::node_type erased{};         // or a row that was erased
    };

    Map rows_;
    std::vector<step> undo_;
};

/// The rows of `memory_store`: a `key_value_store`. Credentials are in a hash table, from which they are read without the lock of the
/// transactions. The rows of other tables that are never scanned, those of a capital letter, are in a hash table, too; those of each other
/// table are in a map.
///
/// Thread rule: any thread. One transaction at a time changes rows.
class memory_database {
    using credential_value = stored_bytes<152>;  // an entry takes three cache lines
    using personal_token_table = memory::sharded_table<token_username, credential_value>;
    using access_token_table = memory::sharded_table<digest, credential_value>;
    using row_value = stored_bytes<20>;  // a number, or a record of two
    using hashed_rows = undoable_map<std::unordered_map<row_key, row_value, row_key_hash, row_key_equality>>;
    using ordered_rows = undoable_map<std::map<row_key, row_value>>;

    [[nodiscard]] static bool is_personal_token(std::string_view key) noexcept { return is_of(table::personal_tokens, key); }
    [[nodiscard]] static bool is_credential(std::string_view key) noexcept {
        return is_personal_token(key) || is_of(table::access_tokens, key);
    }
    [[nodiscard]] static bool is_of(table named, std::string_view key) noexcept { return key.front() == static_cast<char>(named); }
    [[nodiscard]] static bool is_hashed(std::string_view key) noexcept { return key.front() < 'a'; }

    class transaction {
    public:
        explicit transaction(memory_database& database) noexcept : database_{database} {}

        TOLLGATE_DECL result<bool> get(std::string_view key, std::string& value) const;
        TOLLGATE_DECL result<void> put(std::string_view key, std::string_view value);
        TOLLGATE_DECL result<void> erase(std::string_view key);
        TOLLGATE_DECL result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit) const;

        /// Each ends the transaction. `commit` throws std::bad_alloc without effect.
        TOLLGATE_DECL void commit();
        TOLLGATE_DECL void undo() noexcept;

    private:
        [[nodiscard]] const ordered_rows& ordered(std::string_view key) const noexcept { return database_.ordered_[index(key)]; }
        [[nodiscard]] ordered_rows& changed(std::string_view key) noexcept {
            changed_ |= std::uint32_t{1} << index(key);
            return database_.ordered_[index(key)];
        }
        template <class End>
        void end_changed(End end) noexcept {
            end(database_.hashed_);
            for (; changed_ != 0; changed_ &= changed_ - 1) end(database_.ordered_[static_cast<std::size_t>(std::countr_zero(changed_))]);
        }

        memory_database& database_;
        std::uint32_t changed_ = 0;  // a bit for each map
        /// Changes of credentials, which are made last: a look-up must not see what is not committed. Empty: erased.
        std::map<std::string, std::optional<std::string>, std::less<>> credentials_;
    };

public:
    static constexpr bool blocking = false;

    TOLLGATE_DECL result<void> transact(key_value_work work);
    TOLLGATE_DECL result<void> read(key_value_work work);
    /// The committed records of credentials.
    [[nodiscard]] const personal_token_table& personal_tokens() const noexcept { return personal_tokens_; }
    [[nodiscard]] const access_token_table& access_tokens() const noexcept { return access_tokens_; }

private:
    [[nodiscard]] static std::size_t index(std::string_view key) noexcept {
        assert(key.front() <= 'z');
        return static_cast<std::size_t>(key.front() - 'a');
    }
    /// Sets or removes a credential. Returns what it was before. Throws std::bad_alloc without effect, unless it takes back another call.
    TOLLGATE_DECL std::optional<credential_value> exchange(std::string_view key, std::optional<credential_value> value);

    mutable std::shared_mutex mutex_;  // shared for reading; not needed for credentials
    personal_token_table personal_tokens_;
    access_token_table access_tokens_;
    hashed_rows hashed_;
    std::array<ordered_rows, 'z' - 'a' + 1> ordered_;
};

}  // namespace tollgate::key_value_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/key_value/memory_database.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_HPP
