#pragma once

#include <tollgate/store/detail/row_cache.hpp>
#include <tollgate/store/detail/sqlite/change_stamp.hpp>

namespace tollgate::inline v0::sqlite {

/// Gives a row out again exactly as long as nobody has committed anything to the database since it was read, so that
/// what is remembered says the same as the query would.
template <class Key, class Value>
using row_cache = tollgate::row_cache<Key, Value, change_stamp>;

}  // namespace tollgate::sqlite
