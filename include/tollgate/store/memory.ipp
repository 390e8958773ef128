#pragma once
#ifndef TOLLGATE_STORE_MEMORY_IPP
#define TOLLGATE_STORE_MEMORY_IPP

#include <tollgate/store/any_store.hpp>
#include <tollgate/store/detail/key_value/credentials.hpp>
#include <tollgate/store/detail/key_value/rows.hpp>
#include <tollgate/store/memory.hpp>

#include <optional>
#include <variant>

namespace tollgate::inline v0 {

TOLLGATE_DECL memory_store::memory_store(const memory_settings& settings) : record_store{database, settings} {}

TOLLGATE_DECL memory_store::~memory_store() = default;

TOLLGATE_DECL result<std::optional<token_credential>> memory_store::find_credential(const credential_key& named) noexcept {
    using namespace key_value_detail;
    result<std::optional<token_credential>> found{std::in_place};
    bool is_intact = true;
    if (const auto* const access = std::get_if<access_token_key>(&named)) {
        database.access_tokens().with(access->token_digest, [&](const auto* stored) {
            if (stored != nullptr) is_intact = read_access_token(stored->view(), access->token_digest, *found);
        });
    } else {
        database.personal_tokens().with(std::get<personal_token_key>(named).username, [&](const auto* stored) {
            if (stored != nullptr) is_intact = read_personal_token(stored->view(), *found);
        });
    }
    if (!is_intact) found = damaged('T');  // not after this process wrote it
    return found;
}

TOLLGATE_DECL any_store memory_store::make_any(const memory_settings& settings) { return any_store::of<memory_store>(settings); }

}  // namespace tollgate

#endif  // TOLLGATE_STORE_MEMORY_IPP
