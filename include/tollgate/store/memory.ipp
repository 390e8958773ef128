#pragma once
#ifndef TOLLGATE_STORE_MEMORY_IPP
#define TOLLGATE_STORE_MEMORY_IPP

#include <tollgate/store/any_store.hpp>
#include <tollgate/store/detail/key_value/credentials.hpp>
#include <tollgate/store/memory.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL memory_store::memory_store(const memory_settings& settings) : record_store{database, settings} {}

TOLLGATE_DECL memory_store::~memory_store() = default;

TOLLGATE_DECL result<std::optional<token_credential>> memory_store::find_credential(const credential_key& named) noexcept {
    using namespace key_value_detail;
    result<std::optional<token_credential>> found{std::in_place};
    database.read_credential(key_of(named), [&](std::string_view value) {
        if (!key_value_detail::read_credential(value, named, *found)) found = internal_error("the store is damaged");  // impossible: the process wrote it
    });
    return found;
}

TOLLGATE_DECL any_store memory_store::make_any(const memory_settings& settings) { return any_store::of<memory_store>(settings); }

}  // namespace tollgate

#endif  // TOLLGATE_STORE_MEMORY_IPP
