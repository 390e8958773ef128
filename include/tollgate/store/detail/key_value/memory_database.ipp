#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_IPP

#include <tollgate/store/detail/key_value/memory_database.hpp>

#include <mutex>

namespace tollgate::inline v0::key_value_detail {

namespace memory_detail {

/// Reserves the undo of one more change, so that a change that was made can be undone.
template <class Undo>
void reserve_one_more(std::vector<Undo>& in) {
    if (in.size() == in.capacity()) in.reserve(2 * in.size() + 16);
}

}  // namespace memory_detail

TOLLGATE_DECL result<bool> memory_database::transaction::get(std::string_view key, std::string& value) const {
    if (is_in_slots(key)) {
        if (is_credential(key))
            for (auto each = credentials_.rbegin(); each != credentials_.rend(); ++each)
                if (each->first == key) return each->second && (value = *each->second, true);
        return database_.slots_.with(key, [&](const slot_value* found) { return found != nullptr && (value.assign(found->view()), true); });
    }
    const auto found = database_.ordered_.find(key);
    if (found == database_.ordered_.end()) return false;
    value = found->second;
    return true;
}

TOLLGATE_DECL result<void> memory_database::transaction::put(std::string_view key, std::string_view value) {
    if (is_in_slots(key)) {
        const slot_key slot = *slot_key::from(key);
        if (is_credential(key)) credentials_.emplace_back(slot, value);
        else put_in_slot(slot, value);
        return {};
    }
    memory_detail::reserve_one_more(database_.ordered_undo_);
    auto& rows = database_.ordered_;
    const auto at = rows.lower_bound(key);
    std::string added{value};
    if (at != rows.end() && at->first == key) {
        at->second.swap(added);
        database_.ordered_undo_.push_back({at, {}, std::move(added)});
    } else {
        database_.ordered_undo_.push_back({rows.emplace_hint(at, key, std::move(added)), {}, {}});
    }
    return {};
}

TOLLGATE_DECL result<void> memory_database::transaction::erase(std::string_view key) {
    if (is_in_slots(key)) {
        const slot_key slot = *slot_key::from(key);
        if (is_credential(key)) credentials_.emplace_back(slot, std::nullopt);
        else erase_slot(slot);
        return {};
    }
    memory_detail::reserve_one_more(database_.ordered_undo_);
    auto& rows = database_.ordered_;
    if (const auto at = rows.find(key); at != rows.end()) database_.ordered_undo_.push_back({rows.end(), rows.extract(at), {}});
    return {};
}

TOLLGATE_DECL result<void> memory_database::transaction::scan(std::string_view first, std::string_view end, std::size_t rows_max,
                                                              key_value_visitor visit) const {
    const auto& rows = database_.ordered_;
    for (auto row = rows.lower_bound(first); row != rows.end() && row->first < end && rows_max-- != 0; ++row)
        if (!visit(row->first, row->second)) break;
    return {};
}

TOLLGATE_DECL void memory_database::transaction::put_in_slot(const slot_key& key, std::string_view value) {
    memory_detail::reserve_one_more(database_.slot_undo_);
    slot_value added{value};
    if (database_.slots_.change(key, [&](slot_value& held) { std::swap(held, added); })) {
        database_.slot_undo_.push_back({key, std::move(added)});
    } else {
        database_.slots_.insert(key, std::move(added));
        database_.slot_undo_.push_back({key, std::nullopt});
    }
}

TOLLGATE_DECL void memory_database::transaction::erase_slot(const slot_key& key) {
    memory_detail::reserve_one_more(database_.slot_undo_);
    std::optional<slot_value> before;
    if (!database_.slots_.change(key, [&](slot_value& held) { before.emplace(std::move(held)); })) return;
    database_.slots_.erase(key);
    database_.slot_undo_.push_back({key, std::move(before), true});
}

TOLLGATE_DECL void memory_database::transaction::commit() {
    for (const auto& [key, value] : credentials_)
        if (value) put_in_slot(key, *value);
        else erase_slot(key);
    database_.ordered_undo_.clear();
    database_.slot_undo_.clear();
}

TOLLGATE_DECL void memory_database::transaction::undo() noexcept {
    for (auto& all = database_.ordered_undo_; !all.empty(); all.pop_back()) {
        ordered_undo& last = all.back();
        if (last.erased) database_.ordered_.insert(std::move(last.erased));
        else if (last.before) last.row->second.swap(*last.before);
        else database_.ordered_.erase(last.row);
    }
    for (auto& all = database_.slot_undo_; !all.empty(); all.pop_back()) {
        slot_undo& last = all.back();
        // An erased row fits into the table again without allocating: no table shrinks.
        if (last.was_erased) database_.slots_.insert(last.key, *std::move(last.before));
        else if (last.before) database_.slots_.change(last.key, [&](slot_value& held) { std::swap(held, *last.before); });
        else database_.slots_.erase(last.key);
    }
}

TOLLGATE_DECL result<void> memory_database::transact(key_value_work work) {
    const std::scoped_lock lock{mutex_};
    transaction run{*this};
    auto done = work(run);
    if (done) run.commit();
    return done;
}

TOLLGATE_DECL result<void> memory_database::read(key_value_work work) {
    const std::shared_lock lock{mutex_};
    transaction run{*this};
    return work(run);
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_IPP
