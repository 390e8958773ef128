#pragma once
#ifndef TOLLGATE_STORE_DETAIL_MEMORY_APPLICATIONS_IPP
#define TOLLGATE_STORE_DETAIL_MEMORY_APPLICATIONS_IPP

#include <tollgate/base/detail/overloaded.hpp>
#include <tollgate/store/detail/memory/applications.hpp>
#include <tollgate/store/detail/memory/bounds.hpp>
#include <tollgate/store/detail/undo.hpp>
#include <tollgate/store/store_error.hpp>

#include <string>
#include <utility>
#include <variant>

namespace tollgate::inline v0::memory {

TOLLGATE_DECL result<application_id> applications::create(const new_application& created, std::size_t applications_per_user_max) {
    if (const auto existing = find(created.client_id.view())) {
        const bool is_repeated = existing->owner == created.owner && existing->secret_digest == created.secret_digest;
        return is_repeated ? result<application_id>{existing->id} : application_exists();
    }
    const auto first = of_owner_.lower_bound({created.owner, application_id{1}});
    std::size_t owned = 0;
    for (auto each = first; each != of_owner_.end() && each->first == created.owner; ++each) ++owned;
    if (owned >= applications_per_user_max) return too_many_applications(applications_per_user_max);
    if (rows_.size() >= applications_max_)
        return table_is_full(applications_max_, "applications", "applications_max");

    const application_id id{++last_id_};
    rows_.emplace(id, application{id, created.owner, created.client_id, created.secret_digest, created.name, created.website,
                                  created.description, created.redirect_urls, created.created_at, created.type, {}, false, 0});
    tollgate::detail::undo_unless_kept inserted{[&]() noexcept { rows_.erase(id); }};
    by_client_id_.emplace(created.client_id, id);
    tollgate::detail::undo_unless_kept named{[&]() noexcept { by_client_id_.erase(by_client_id_.find(created.client_id.view())); }};
    of_owner_.emplace(created.owner, id);
    tollgate::detail::keep_all(inserted, named);
    return id;
}

TOLLGATE_DECL std::optional<application> applications::find(std::string_view client_id) const {
    const auto named = by_client_id_.find(client_id);
    return named == by_client_id_.end() ? std::nullopt : std::optional{rows_.at(named->second)};
}

TOLLGATE_DECL const application* applications::find(application_id id) const noexcept {
    const auto found = rows_.find(id);
    return found == rows_.end() ? nullptr : &found->second;
}

TOLLGATE_DECL std::vector<application> applications::of(user_id owner) const {
    std::vector<application> found;
    for (auto each = of_owner_.lower_bound({owner, application_id{1}}); each != of_owner_.end() && each->first == owner;
         ++each)
        found.push_back(rows_.at(each->second));
    return found;
}

TOLLGATE_DECL std::optional<user_id> applications::change(const std::optional<user_id>& changed_by, application_id id,
                                                          const application_change& change) {
    const auto row = rows_.find(id);
    if (row == rows_.end() || row->second.owner != changed_by.value_or(row->second.owner)) return std::nullopt;
    application& found = row->second;
    const bool is_changed = std::visit(
        tollgate::detail::overloaded{
            [&](application_fields fields) {  // a copy: nothing is changed after this that could fail
                found.name = std::move(fields.name);
                found.website = std::move(fields.website);
                found.description = std::move(fields.description);
                found.redirect_urls = std::move(fields.redirect_urls);
                found.acts_for_owner = fields.acts_for_owner;
                return true;
            },
            [&](const client_secret_addition& added) {
                if (found.secret_digest == added.secret_digest) return true;  // the call is repeated
                if (found.secret_digest != added.replaced.value_or(found.secret_digest)) return false;
                found.older_secret_digest = found.secret_digest;
                found.secret_digest = added.secret_digest;
                return true;
            },
            [&](older_secret_removal) { return std::exchange(found.older_secret_digest, std::nullopt).has_value(); },
            [&](const suspension_change& suspension) {
                found.suspended = suspension.suspended;
                return true;
            },
        },
        change);
    return is_changed ? std::optional{found.owner} : std::nullopt;
}

TOLLGATE_DECL bool applications::remove(user_id owner, application_id id) noexcept {
    const application* const found = find(id);
    if (found == nullptr || found->owner != owner) return false;
    by_client_id_.erase(by_client_id_.find(found->client_id.view()));
    of_owner_.erase({owner, id});
    rows_.erase(id);
    return true;
}

}  // namespace tollgate::memory

#endif  // TOLLGATE_STORE_DETAIL_MEMORY_APPLICATIONS_IPP
