#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_IPP

#include <tollgate/store/detail/key_value/memory_database.hpp>
#include <tollgate/store/detail/undo.hpp>

#include <mutex>

namespace tollgate::inline v0::key_value_detail {

TOLLGATE_DECL result<bool> memory_database::transaction::get(std::string_view key, std::string& value) const {
    const auto find_in = [&](const auto& rows) {
        const auto found = rows.find(key);
        if (found == rows.rows().end()) return false;
        value = found->second.view();
        return true;
    };
    if (!is_hashed(key)) return find_in(ordered(key));
    if (!is_credential(key)) return find_in(database_.hashed_);
    if (const auto changed = credentials_.find(key); changed != credentials_.end())
        return changed->second && (value = *changed->second, true);
    const auto copy = [&](const credential_value* found) { return found != nullptr && (value = found->view(), true); };
    const std::string_view name = key.substr(1);
    return is_personal_token(key) ? database_.personal_tokens_.with(name, copy) : database_.access_tokens_.with(last_digest(name), copy);
}

TOLLGATE_DECL result<void> memory_database::transaction::put(std::string_view key, std::string_view value) {
    if (!is_hashed(key)) changed(key).put(key, value);
    else if (!is_credential(key)) database_.hashed_.put(key, value);
    else credentials_.insert_or_assign(std::string{key}, std::string{value});
    return {};
}

TOLLGATE_DECL result<void> memory_database::transaction::erase(std::string_view key) {
    if (!is_hashed(key)) changed(key).erase(key);
    else if (!is_credential(key)) database_.hashed_.erase(key);
    else credentials_.insert_or_assign(std::string{key}, std::nullopt);
    return {};
}

TOLLGATE_DECL result<void> memory_database::transaction::scan(std::string_view first, std::string_view end, std::size_t rows_max,
                                                              key_value_visitor visit) const {
    const auto& rows = ordered(first).rows();
    const row_key last{end};
    const bool is_until_next_table = end.front() != first.front();  // a record store scans no more than one table
    for (auto row = rows.lower_bound(row_key{first}); row != rows.end() && rows_max-- != 0; ++row) {
        if (!is_until_next_table && !(row->first < last)) break;
        if (!visit(row->first.view(), row->second.view())) break;
    }
    return {};
}

TOLLGATE_DECL void memory_database::transaction::commit() {
    std::vector<std::pair<std::string_view, std::optional<credential_value>>> before;
    before.reserve(credentials_.size());
    try {
        for (const auto& [key, value] : credentials_)
            before.emplace_back(key, database_.exchange(key, value ? std::optional{credential_value{*value}} : std::nullopt));
    } catch (...) {
        for (; !before.empty(); before.pop_back()) database_.exchange(before.back().first, std::move(before.back().second));
        throw;
    }
    end_changed([](auto& rows) { rows.commit(); });
}

TOLLGATE_DECL void memory_database::transaction::undo() noexcept {
    end_changed([](auto& rows) { rows.undo(); });
}

TOLLGATE_DECL std::optional<memory_database::credential_value> memory_database::exchange(std::string_view key,
                                                                                         std::optional<credential_value> value) {
    const auto exchange_in = [&](auto& credentials, const auto& name) -> std::optional<credential_value> {
        if (!value) return credentials.extract(name);
        if (credentials.change(name, [&](credential_value& held) { std::swap(held, *value); })) return std::move(value);
        credentials.insert(name, *std::move(value));
        return std::nullopt;
    };
    const std::string_view name = key.substr(1);
    if (is_personal_token(key)) return exchange_in(personal_tokens_, token_username::from(name).value_or(token_username{}));
    return exchange_in(access_tokens_, last_digest(name));
}

TOLLGATE_DECL result<void> memory_database::transact(key_value_work work) {
    const std::scoped_lock lock{mutex_};
    transaction run{*this};
    detail::undo_unless_kept changes{[&]() noexcept { run.undo(); }};
    auto done = work(run);
    if (!done) return done;
    run.commit();
    changes.keep();
    return done;
}

TOLLGATE_DECL result<void> memory_database::read(key_value_work work) {
    const std::shared_lock lock{mutex_};
    transaction run{*this};
    return work(run);
}

}  // namespace tollgate::key_value_detail

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_MEMORY_DATABASE_IPP
