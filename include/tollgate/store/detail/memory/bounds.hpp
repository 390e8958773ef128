#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_BOUNDS_HPP
#define TOLLGATE_STORE_DETAIL_MEMORY_BOUNDS_HPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/base/ids.hpp>
#include <tollgate/base/result.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tollgate::inline v0::memory {

/// The part of a bound that one user, account or host may use; a quarter leaves enough for others.
inline constexpr std::size_t share_divisor = 4;

/// The error for a full table. `rows`: the plural noun; `setting`: the member of `memory_settings` that is its bound.
[[nodiscard]] inline error table_is_full(std::size_t rows_max, std::string_view rows, std::string_view setting) {
    return unavailable(tollgate::detail::concat({"The memory store holds ", std::to_string(rows_max), " ", rows,
                                                 ", the maximum (memory_settings::", setting, ")."}));
}

/// Reserves space for one more element, so that appending cannot fail.
template <class T>
void reserve_one_more(std::vector<T>& in) {
    if (in.size() == in.capacity()) in.reserve((std::max)(in.size() * 2, std::size_t{2}));
}

/// Counts the rows of a table, in total and by user. A table has at most `rows_max`, and one user at most a quarter of
/// them.
class user_shares {
public:
    explicit user_shares(std::size_t rows_max) noexcept
        : rows_max_{rows_max}, rows_per_user_max_{(std::max)(rows_max / share_divisor, std::size_t{1})} {}

    [[nodiscard]] bool has_capacity(user_id user) const noexcept {
        return rows_ < rows_max_ && rows_of(user) < rows_per_user_max_;
    }

    /// The error for a full table or share. `rows`: the plural noun; `setting`: the name of `rows_max`.
    [[nodiscard]] error no_capacity(std::string_view rows, std::string_view setting) const {
        if (rows_ >= rows_max_) return table_is_full(rows_max_, rows, setting);
        return unavailable(tollgate::detail::concat({"The memory store holds ", std::to_string(rows_per_user_max_), " ", rows,
                                   " of one user, the maximum (a quarter of memory_settings::", setting, ")."}));
    }

    /// Throws std::bad_alloc without effect.
    void add(user_id user) {
        ++of_user_[user];
        ++rows_;
    }

    /// Precondition: the user has one.
    void remove(user_id user) noexcept {
        const auto found = of_user_.find(user);
        if (--found->second == 0) of_user_.erase(found);
        --rows_;
    }

private:
    [[nodiscard]] std::size_t rows_of(user_id user) const noexcept {
        const auto found = of_user_.find(user);
        return found == of_user_.end() ? 0 : found->second;
    }

    const std::size_t rows_max_, rows_per_user_max_;
    std::size_t rows_ = 0;
    std::unordered_map<user_id, std::size_t> of_user_;
};

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_BOUNDS_HPP
