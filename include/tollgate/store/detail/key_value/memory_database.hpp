#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_HPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/inline_text.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/contract/key_value_store.hpp>
#include <tollgate/store/detail/memory/sharded_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::key_value_detail {

/// A value in a slot of a hash table: in place if it is short, as that of a credential is, so that a look-up follows no pointer.
class slot_value {
public:
    static constexpr std::size_t in_place_max = 152;  // with key and size, a slot takes three cache lines

    explicit slot_value(std::string_view bytes) : size_{static_cast<std::uint32_t>(bytes.size())} {
        char* to = bytes_.data();
        if (is_elsewhere()) std::memcpy(bytes_.data(), &(to = new char[size_]), sizeof to);
        if (size_ != 0) std::memcpy(to, bytes.data(), size_);
    }
    slot_value(slot_value&& other) noexcept : size_{std::exchange(other.size_, 0)}, bytes_{other.bytes_} {}
    slot_value& operator=(slot_value&& other) noexcept {
        std::swap(size_, other.size_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~slot_value() {
        if (is_elsewhere()) delete[] elsewhere();
    }

    [[nodiscard]] std::string_view view() const noexcept { return {is_elsewhere() ? elsewhere() : bytes_.data(), size_}; }

private:
    [[nodiscard]] bool is_elsewhere() const noexcept { return size_ > in_place_max; }
    [[nodiscard]] char* elsewhere() const noexcept {
        char* at = nullptr;
        std::memcpy(&at, bytes_.data(), sizeof at);
        return at;
    }

    std::uint32_t size_;
    std::array<char, in_place_max> bytes_;  // only the first size_ are set, or a pointer
};

/// The rows of `memory_store`: a `key_value_store`. Tables that are never scanned, those of a capital letter, are in a hash table, from which
/// credentials are read without the lock of the transactions. The others are in a map.
///
/// Thread rule: any thread. One transaction at a time changes rows.
class memory_database {
    using slot_key = detail::inline_text<33>;  // a table and a digest or a username
    using slots = memory::sharded_table<slot_key, slot_value>;
    using ordered = std::map<std::string, std::string, std::less<>>;

    [[nodiscard]] static bool is_in_slots(std::string_view key) noexcept {
        return key.front() < 'a' && key.size() <= slot_key::bytes_max;
    }
    /// The tables of credentials: `read_one` must not see what is not committed.
    [[nodiscard]] static bool is_credential(std::string_view key) noexcept { return key.front() == 'T' || key.front() == 'A'; }

    class transaction {
    public:
        explicit transaction(memory_database& database) noexcept : database_{database} {}
        transaction(const transaction&) = delete;
        transaction& operator=(const transaction&) = delete;
        ~transaction() { undo(); }

        TOLLGATE_DECL result<bool> get(std::string_view key, std::string& value) const;
        TOLLGATE_DECL result<void> put(std::string_view key, std::string_view value);
        TOLLGATE_DECL result<void> erase(std::string_view key);
        TOLLGATE_DECL result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max, key_value_visitor visit) const;

        /// Makes the changes final. Throws std::bad_alloc.
        TOLLGATE_DECL void commit();

    private:
        TOLLGATE_DECL void put_in_slot(const slot_key& key, std::string_view value);
        TOLLGATE_DECL void erase_slot(const slot_key& key);
        TOLLGATE_DECL void undo() noexcept;

        memory_database& database_;
        /// Changes of credentials, which are made last; empty: erased.
        std::vector<std::pair<slot_key, std::optional<std::string>>> credentials_;
    };

public:
    static constexpr bool blocking = false;

    TOLLGATE_DECL result<void> transact(key_value_work work);
    TOLLGATE_DECL result<void> read(key_value_work work);
    /// Calls `read(value)` with the last committed value of a key in the slots, while its shard is locked. Returns false if there is none.
    template <class Read>
    bool read_one(const auto& key, Read&& read) const {
        return slots_.with(key, [&](const slot_value* found) {
            if (found != nullptr) read(found->view());
            return found != nullptr;
        });
    }

private:
    /// What undoes one change: the row as it was.
    struct ordered_undo {
        ordered::iterator row;        // a row that was added or changed
        ordered::node_type erased;    // or one that was erased
        std::optional<std::string> before{};  // of a changed row
    };
    struct slot_undo {
        slot_key key;
        std::optional<slot_value> before;
        bool was_erased = false;
    };

    mutable std::shared_mutex mutex_;  // shared for reading; not needed for slots
    ordered ordered_;
    slots slots_;
    // Of the transaction that runs; here, because their memory is used again.
    std::vector<ordered_undo> ordered_undo_;
    std::vector<slot_undo> slot_undo_;
};

}  // namespace tollgate::key_value_detail

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/detail/key_value/memory_database.ipp>
#endif

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_HPP
