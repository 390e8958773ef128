#pragma once
#ifndef TOLLGATE_STORE_DETAIL_KEY_VALUE_APPLICATIONS_IPP
#define TOLLGATE_STORE_DETAIL_KEY_VALUE_APPLICATIONS_IPP

#include <tollgate/store/detail/key_value/applications.hpp>
#include <tollgate/store/detail/key_value/tokens.hpp>
#include <tollgate/store/key_value.hpp>

#include <string_view>
#include <utility>
#include <variant>

namespace tollgate::inline v0 {

namespace key_value_detail {

[[nodiscard]] inline application describe(application_id id, application_record&& record) {
    return {id, record.owner, record.client_id, record.secret, std::move(record.name), std::move(record.website),
            std::move(record.description), std::move(record.redirect_urls), record.created_at, record.type, record.older_secret,
            record.acts_for_owner, 0, record.suspended, record.registration, scope_set::from_text(record.default_scopes),
            record.registration_digest};
}

/// Each applies one change of an application, and returns whether the application was as the change needs it.
struct apply_application_change {
    rows& all;
    application_id id;
    application_record& application;

    bool operator()(const application_fields& changed) const {
        application.name = changed.name;
        application.website = changed.website;
        application.description = changed.description;
        application.redirect_urls = changed.redirect_urls;
        application.acts_for_owner = changed.acts_for_owner;
        application.default_scopes = changed.default_scopes.text();
        if (!changed.acts_for_owner) forget_access_tokens_from(all, id, application.owner, created_for_owner);
        return true;
    }
    bool operator()(const client_secret_addition& added) const {
        if (application.secret == added.secret_digest) return true;  // the call is repeated
        if (added.replaced && application.secret != *added.replaced) return false;
        application.older_secret = std::exchange(application.secret, added.secret_digest);
        return true;
    }
    bool operator()(const older_secret_removal&) const { return std::exchange(application.older_secret, std::nullopt).has_value(); }
    bool operator()(const suspension_change& changed) const {
        application.suspended = changed.suspended;
        if (changed.suspended) all.put(key{table::ended_applications}.id(id), "");
        return true;
    }
};

}  // namespace key_value_detail

TOLLGATE_DECL result<application_id> record_store::create_application(const new_application& created,
                                                                      std::size_t applications_per_user_max) noexcept {
    using namespace key_value_detail;
    return change(database_, [&](rows& all) -> result<application_id> {
        if (const auto taken = id_of<application_id>(all.number(client_id_key(created.client_id)))) {
            const auto existing = all.existing<application_record>(application_key(*taken));
            if (existing.owner == created.owner && existing.secret == created.secret_digest) return *taken;
            return application_exists();
        }
        const key siblings = key{table::applications_of_owner}.id(created.owner);
        if (all.count(siblings, applications_per_user_max) >= applications_per_user_max)
            return too_many_applications(applications_per_user_max);
        if (auto claimed = claim_row(all, bounded_applications); !claimed) return std::move(claimed).error();
        const auto id = all.next_id<application_id>(table::applications);
        all.put(application_key(id),
                application_record{created.owner, created.client_id, created.secret_digest, created.name, created.website,
                                   created.description, created.redirect_urls, created.created_at, created.type, {}, false, {},
                                   created.registration, std::string{created.default_scopes.text()}, created.registration_digest});
        all.put(client_id_key(created.client_id), number_value{id});
        all.put(key{siblings}.id(id), "");
        return id;
    });
}

TOLLGATE_DECL result<std::optional<application>> record_store::find_application(std::string_view client_id) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) -> std::optional<application> {
        if (client_id.size() > limits::client_id_bytes_max) return std::nullopt;
        const auto id = id_of<application_id>(all.number(client_id_key(client_id)));
        if (!id) return std::nullopt;
        return describe(*id, all.existing<application_record>(application_key(*id)));
    });
}

TOLLGATE_DECL result<std::vector<application>> record_store::applications_of(user_id owner) noexcept {
    using namespace key_value_detail;
    return read(database_, [&](rows& all) {
        std::vector<application> found;
        for (const application_id id : all.ids<application_id>(key{table::applications_of_owner}.id(owner))) {
            found.push_back(describe(id, all.existing<application_record>(application_key(id))));
            found.back().users = static_cast<std::int64_t>(all.number(key{table::user_counts}.id(id)));
        }
        return found;
    });
}

TOLLGATE_DECL result<bool> record_store::change_application(const std::optional<user_id>& changed_by, application_id id,
                                                            const application_change& changed) noexcept {
    using namespace key_value_detail;
    auto done = change(database_, [&](rows& all) {
        auto found = all.get<application_record>(application_key(id));
        if (!found || (changed_by && found->owner != *changed_by)) return false;
        if (!std::visit(apply_application_change{all, id, *found}, changed)) return false;
        all.put(application_key(id), *found);
        return true;
    });
    const auto* const suspended = std::get_if<suspension_change>(&changed);
    if (!done || !*done || suspended == nullptr || !suspended->suspended) return done;
    if (auto ended = end_application(database_, id); !ended) return std::move(ended).error();
    return true;
}

TOLLGATE_DECL result<bool> record_store::delete_application(user_id owner, application_id id) noexcept {
    using namespace key_value_detail;
    auto done = change(database_, [&](rows& all) {
        const auto found = all.get<application_record>(application_key(id));
        if (!found || found->owner != owner) return false;
        forget_application(all, id, *found);
        return true;
    });
    if (!done || !*done) return done;
    if (auto ended = end_application(database_, id); !ended) return std::move(ended).error();
    return true;
}

}  // namespace tollgate

#endif  // TOLLGATE_STORE_DETAIL_KEY_VALUE_APPLICATIONS_IPP
