#pragma once
#ifndef TOLLGATE_STORE_MEMORY_IPP
#define TOLLGATE_STORE_MEMORY_IPP

#include <tollgate/store/any_store.hpp>
#include <tollgate/store/memory.hpp>

namespace tollgate::inline v0 {

TOLLGATE_DECL memory_store::memory_store(const memory_settings& settings) : record_store{database, settings} {}

TOLLGATE_DECL memory_store::~memory_store() = default;

TOLLGATE_DECL any_store memory_store::make_any(const memory_settings& settings) { return any_store::of<memory_store>(settings); }

}  // namespace tollgate

#endif  // TOLLGATE_STORE_MEMORY_IPP
