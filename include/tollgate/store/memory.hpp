#pragma once
#ifndef TOLLGATE_STORE_MEMORY_HPP
#define TOLLGATE_STORE_MEMORY_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/store/detail/key_value/memory_database.hpp>
#include <tollgate/store/key_value.hpp>
#include <tollgate/store/memory_settings.hpp>

namespace tollgate::inline v0 {

class any_store;

namespace key_value_detail {

/// A base, so that the rows exist before the store on them.
struct rows_in_memory {
    memory_database database;
};

}  // namespace key_value_detail

/// The store in memory, for tests, demonstrations, and programs that keep their data elsewhere: a `record_store` whose rows are in hash
/// tables and maps. No data survives the process.
///
/// Thread rule: any thread. No call blocks. Looking up a credential does not allocate, and waits for no other verb.
class memory_store : key_value_detail::rows_in_memory, public record_store {
public:
    /// Constructs an empty store.
    TOLLGATE_DECL explicit memory_store(const memory_settings& settings = {});
    TOLLGATE_DECL ~memory_store();

    /// An empty store that a program can choose at run time: the caller compiles nothing of this class. Throws std::bad_alloc.
    [[nodiscard]] static TOLLGATE_DECL any_store make_any(const memory_settings& settings = {});

    /// See `credential_source`.
    TOLLGATE_DECL result<std::optional<token_credential>> find_credential(const credential_key& named) noexcept;
};

}  // namespace tollgate

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/store/memory.ipp>
#endif

#endif  // TOLLGATE_STORE_MEMORY_HPP
