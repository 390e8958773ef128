#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_REGISTRATIONS_HPP
#define TOLLGATE_TESTING_DETAIL_REGISTRATIONS_HPP

#include <tollgate/testing/detail/applications.hpp>
#include <tollgate/testing/detail/granting.hpp>
#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

[[nodiscard]] inline new_application sample_registration(std::string_view client_id, instant at = noon) {
    auto application = sample_application(client_id, no_owner);
    application.registration = registration_kind::by_itself;
    application.default_scopes = sample_scopes("user:balance sitesmaker:read");
    application.registration_digest = sample_digest(77);
    application.website = {};
    application.created_at = at;
    return application;
}

[[nodiscard]] inline resource_set sample_resources(std::initializer_list<std::uint64_t> ids) {
    resource_set all;
    for (const auto each : ids) all.add({each});
    return all;
}

}  // namespace detail

/// The rules for applications that no user registered, and for the resources that codes and tokens are for.
template <class Given>
void add_registration_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("registration: an application keeps how it was registered", [](auto& store) {
        for (const auto kind : {registration_kind::by_itself, registration_kind::metadata_document}) {
            auto application = sample_registration(kind == registration_kind::by_itself ? "tgi_a" : "https://agent.example/client.json");
            application.registration = kind;
            const auto id = value_of(store.create_application(application, applications_max));
            expect_application_found(store, id, application);
        }
        expect(value_of(store.applications_of(no_owner)).size() == 2, "applications without an owner are listed together");
        const auto owned = sample_application("tgi_owned");
        const auto id = value_of(store.create_application(owned, applications_max));
        expect_application_found(store, id, owned);
        expect(value_of(store.applications_of(no_owner)).size() == 2, "an application with an owner is not among them");
    });

    add("registration: the scopes of an application change with its other fields", [](auto& store) {
        auto application = sample_registration("https://agent.example/client.json");
        const auto id = value_of(store.create_application(application, applications_max));
        application.default_scopes = sample_scopes("itemplatform");
        application.redirect_urls = {"https://agent.example/new"};
        expect(value_of(store.change_application(no_owner, id,
                                                 application_fields{.name = application.name,
                                                                    .website = application.website,
                                                                    .description = application.description,
                                                                    .redirect_urls = application.redirect_urls,
                                                                    .default_scopes = application.default_scopes})),
               "an application without an owner is changed");
        expect_application_found(store, id, application);
    });

    add("registration: applications without an owner are bounded in number", [](auto& store) {
        value_of(store.create_application(sample_registration("tgi_a"), 2));
        value_of(store.create_application(sample_registration("tgi_b"), 2));
        expect_error("create_application", store.create_application(sample_registration("tgi_c"), 2), error_kind::invalid);
        value_of(store.create_application(sample_application("tgi_c"), 2));
    });

    add("registration: what nobody has authorized is swept, up to a bound per call", [](auto& store) {
        const auto used = value_of(store.create_application(sample_registration("tgi_used"), applications_max));
        authorize(store, 1, used);
        value_of(store.create_application(sample_application("tgi_owned"), applications_max));
        for (const char* name : {"tgi_a", "tgi_b", "tgi_c"})
            value_of(store.create_application(sample_registration(name), applications_max));
        value_of(store.create_application(sample_registration("tgi_new", noon + seconds{1}), applications_max));
        const auto sweep = [&](instant before, std::size_t rows_max) {
            return value_of(store.sweep({.unowned_registered_before = before, .rows_max = rows_max}));
        };
        expect(sweep(noon, 10) == 0, "none was registered before");
        expect(sweep(noon + milliseconds{1}, 0) == 0, "nothing is swept where nothing may be");
        expect(sweep(noon + milliseconds{1}, 2) == 2, "a sweep removes no more than its bound");
        expect(sweep(noon + milliseconds{1}, 10) == 1, "the rest is swept");
        expect(sweep(noon + milliseconds{1}, 10) == 0, "nothing is left");
        for (const char* name : {"tgi_used", "tgi_owned", "tgi_new"})
            expect(value_of(store.find_application(name)).has_value(), "an application with users, with an owner, or a new one stays");
        expect_access(store, 1);
        value_of(store.revoke(grant_revocation{user_id{7}, used}));
        expect(sweep(noon + milliseconds{1}, 10) == 1, "an application whose last user has left is swept");
        expect_application_unknown(store, "tgi_used");
    });

    add("resources: a code's resources are those of its tokens", [](auto& store) {
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        code.resources = sample_resources({3, 5});
        expect_code(store, code, code_result::created);
        expect_redemption(store, sample_redemption(1, application), redemption_result::redeemed);
        const auto resources_of = [&](const digest& token) { return found_of(store.find_oauth_token(token)).resources; };
        const auto credential = value_of(store.find_credential(access_token_key{sample_access_digest(1)}));
        expect(credential && credential->resources == code.resources, "a credential has its resources");
        expect(resources_of(sample_access_digest(1)) == code.resources, "an access token has its resources");
        expect(resources_of(sample_refresh_digest(1)) == code.resources, "a refresh token has its resources");

        auto refresh = sample_refresh(1, 2, application);
        refresh.resources = sample_resources({5});
        expect(value_of(store.refresh_access_token(refresh)).result == refresh_result::refreshed, "fewer resources may be requested");
        expect(resources_of(sample_access_digest(2)) == refresh.resources, "the access token has those that were requested");
        expect(resources_of(sample_refresh_digest(1)) == code.resources, "the refresh token keeps its own");
        refresh.access_digest = sample_access_digest(3);
        refresh.resources = sample_resources({5, 6});
        expect(value_of(store.refresh_access_token(refresh)).result == refresh_result::wrong_resource, "others may not be requested");
        expect_no_access(store, 3);
    });

    add("resources: a redemption may ask for fewer, not for others", [](auto& store) {
        const auto application = create_sample_application(store);
        auto code = sample_code(1, application);
        code.resources = sample_resources({3, 5});
        expect_code(store, code, code_result::created);
        auto presented = sample_redemption(1, application);
        presented.resources = sample_resources({4});
        expect_redemption(store, presented, redemption_result::wrong_resource);
        presented.resources = sample_resources({3});
        expect_redemption(store, presented, redemption_result::redeemed);
        expect(found_of(store.find_oauth_token(sample_access_digest(1))).resources == presented.resources,
               "the access token has those that were requested");
        expect(found_of(store.find_oauth_token(sample_refresh_digest(1))).resources == code.resources,
               "the refresh token has those of the code");

        expect_code(store, sample_code(2, application), code_result::created);  // for every resource
        auto any = sample_redemption(2, application);
        any.resources = sample_resources({9});
        expect_redemption(store, any, redemption_result::redeemed);
        expect(found_of(store.find_oauth_token(sample_access_digest(2))).resources == any.resources,
               "a code without resources may be redeemed for any");
        expect(found_of(store.find_oauth_token(sample_refresh_digest(2))).resources.empty(), "the refresh token stays without resources");
    });

    add("resources: an access token that is created directly has its own", [](auto& store) {
        const auto application = create_sample_application(store);
        new_access_token created{.user = user_id{7},
                                 .application = application,
                                 .token_digest = sample_access_digest(1),
                                 .scopes = sample_scopes("user:balance"),
                                 .created_at = noon,
                                 .expires_at = noon + seconds{60},
                                 .resources = sample_resources({1, 2, 3, 4})};
        value_of(store.create_access_token(created));
        const auto credential = value_of(store.find_credential(access_token_key{created.token_digest}));
        expect(credential && credential->resources == created.resources, "a credential has its resources");
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_REGISTRATIONS_HPP
