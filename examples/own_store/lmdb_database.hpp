#pragma once

// A database that has transactions of keys and values, LMDB, as a key_value_store: with it, record_store stores everything that Tollgate
// does.

#include <tollgate/contract/key_value_store.hpp>

#include <lmdb.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace own_store {

/// A file of LMDB. A commit is on disk when it returns. Any number of processes may use the file; one of them writes at a time, and readers
/// do not wait. A process opens a file only once.
class lmdb_database {
public:
    static constexpr bool blocking = true;  // a commit waits for the disk, and a transaction for those of other processes

    /// Opens the file, or creates it. `bytes_max` is the size to which it can grow; only address space is reserved. Throws
    /// std::runtime_error.
    explicit lmdb_database(const std::string& path, std::size_t bytes_max = std::size_t{16} << 30) {
        MDB_env* created = nullptr;
        expect(mdb_env_create(&created));
        environment_.reset(created);
        expect(mdb_env_set_mapsize(created, bytes_max));
        expect(mdb_env_set_maxreaders(created, 1024));
        expect(mdb_env_open(created, path.c_str(), MDB_NOSUBDIR | MDB_NOTLS, 0600));
        expect(mdb_reader_check(created, nullptr));  // of processes that were killed
        MDB_txn* begun = nullptr;
        expect(mdb_txn_begin(created, nullptr, 0, &begun));
        owned_transaction open{begun, mdb_txn_abort};
        expect(mdb_dbi_open(begun, nullptr, 0, &table_));
        expect(mdb_txn_commit(open.release()));
    }

    tollgate::result<void> transact(tollgate::key_value_work work) { return run(0, work); }
    tollgate::result<void> read(tollgate::key_value_work work) { return run(MDB_RDONLY, work); }

    /// The number of the last transaction of any process, for shared_key_value_store.
    std::optional<std::uint64_t> commits_seen() const noexcept {
        MDB_envinfo info;
        return mdb_env_info(environment_.get(), &info) == 0 ? std::optional<std::uint64_t>{info.me_last_txnid} : std::nullopt;
    }

private:
    using owned_transaction = std::unique_ptr<MDB_txn, decltype(&mdb_txn_abort)>;

    // [transactions]
    class transaction {
    public:
        transaction(MDB_txn* begun, MDB_dbi table) noexcept : begun_{begun}, table_{table} {}

        tollgate::result<bool> get(std::string_view key, std::string& value) const {
            MDB_val at = bytes(key), found;
            const int code = mdb_get(begun_, table_, &at, &found);
            if (code == 0) value = text(found);
            if (code == 0 || code == MDB_NOTFOUND) return code == 0;
            return failure(code);
        }
        tollgate::result<void> put(std::string_view key, std::string_view value) const {
            MDB_val at = bytes(key), stored = bytes(value);
            return done(mdb_put(begun_, table_, &at, &stored, 0));
        }
        tollgate::result<void> erase(std::string_view key) const {
            MDB_val at = bytes(key);
            return done(mdb_del(begun_, table_, &at, nullptr));
        }
        tollgate::result<void> scan(std::string_view first, std::string_view end, std::size_t rows_max,
                                    tollgate::key_value_visitor visit) const {
            MDB_cursor* opened = nullptr;
            if (const int code = mdb_cursor_open(begun_, table_, &opened); code != 0) return failure(code);
            const std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> cursor{opened, mdb_cursor_close};
            MDB_val at = bytes(first), value;
            int code = mdb_cursor_get(opened, &at, &value, MDB_SET_RANGE);
            for (; code == 0 && text(at) < end && rows_max-- != 0; code = mdb_cursor_get(opened, &at, &value, MDB_NEXT))
                if (!visit(text(at), text(value))) return {};
            return done(code);
        }

    private:
        static MDB_val bytes(std::string_view text) noexcept { return {text.size(), const_cast<char*>(text.data())}; }
        static std::string_view text(const MDB_val& bytes) noexcept { return {static_cast<const char*>(bytes.mv_data), bytes.mv_size}; }
        static tollgate::result<void> done(int code) {
            return code == 0 || code == MDB_NOTFOUND ? tollgate::result<void>{} : failure(code);
        }

        MDB_txn* begun_;
        MDB_dbi table_;
    };

    tollgate::result<void> run(unsigned flags, tollgate::key_value_work work) {
        MDB_txn* begun = nullptr;
        if (const int code = mdb_txn_begin(environment_.get(), nullptr, flags, &begun); code != 0) return failure(code);
        owned_transaction open{begun, mdb_txn_abort};
        transaction rows{begun, table_};
        auto done = work(rows);
        if (done && flags == 0)
            if (const int code = mdb_txn_commit(open.release()); code != 0) return failure(code);
        return done;
    }
    // [/transactions]
    static tollgate::error failure(int code) { return tollgate::unavailable(std::string{"LMDB: "} + mdb_strerror(code)); }
    static void expect(int code) {
        if (code != 0) throw std::runtime_error{failure(code).cause};
    }

    std::unique_ptr<MDB_env, decltype(&mdb_env_close)> environment_{nullptr, mdb_env_close};
    MDB_dbi table_ = 0;
};

static_assert(tollgate::shared_key_value_store<lmdb_database>);

}  // namespace own_store
