#pragma once
#ifndef TOLLGATE_STORE_MEMORY_IPP
#define TOLLGATE_STORE_MEMORY_IPP

#include <tollgate/store/any_store.hpp>
#include <tollgate/store/memory.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL memory_store::memory_store(const memory_settings& settings)
    : memory_token_store{settings},
      sessions_{settings.sessions_max},
      hooks_{settings.hooks_max},
      outbox_{settings.outbox_bytes_max, hooks_},
      access_{settings.access_tokens_max},
      applications_{settings.applications_max},
      grants_{{settings.grants_max, settings.codes_max, settings.refresh_tokens_max}, applications_, access_},
      device_codes_{settings.device_codes_max, applications_} {}

TOLLGATE_DECL memory_store::~memory_store() = default;

TOLLGATE_DECL any_store memory_store::make_any(const memory_settings& settings) { return any_store::of<memory_store>(settings); }

}  // namespace tollgate

#endif  // TOLLGATE_STORE_MEMORY_IPP
