#pragma once
#ifndef TOLLGATE_TESTING_DETAIL_APPLICATIONS_HPP
#define TOLLGATE_TESTING_DETAIL_APPLICATIONS_HPP

#include <tollgate/testing/detail/samples.hpp>
#include <tollgate/testing/detail/test_case.hpp>

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::inline v0::testing {

namespace detail {

inline constexpr std::size_t applications_max = limits::applications_per_user_max;

inline void expect_application(const application& actual, application_id id, const new_application& application,
                               const std::source_location& at = std::source_location::current()) {
    expect(actual.id == id, "an application has the id that create gave", at);
    expect(actual.owner == application.owner, "an application has its owner", at);
    expect(actual.client_id == application.client_id, "an application has its client_id", at);
    expect(actual.secret_digest == application.secret_digest, "an application has its secret's digest", at);
    expect(actual.name == application.name, "an application has its name, byte for byte", at);
    expect(actual.website == application.website, "an application has its website, byte for byte", at);
    expect(actual.description == application.description, "an application has its description, byte for byte", at);
    expect(actual.redirect_urls == application.redirect_urls, "an application has its redirect URLs, byte for byte, in order", at);
    expect(actual.type == application.type, "an application has its type", at);
    expect(actual.created_at == application.created_at, "an application has its time, to the millisecond", at);
    expect(!actual.older_secret_digest && !actual.acts_for_owner && actual.users == 0 && !actual.suspended,
           "a new application has one secret, no right to its owner's accounts, and no users, and is not suspended", at);
}

template <class Store>
void expect_application_found(Store& store, application_id id, const new_application& application,
                              const std::source_location& at = std::source_location::current()) {
    expect_application(found_of(store.find_application(application.client_id.view()), at), id, application, at);
}

template <class Store>
void expect_application_unknown(Store& store, std::string_view client_id,
                                const std::source_location& at = std::source_location::current()) {
    expect_nothing(store.find_application(client_id), "no application is found", at);
}

}  // namespace detail

/// The rules for OAuth applications. What is deleted together with an application is tested with the grants.
template <class Given>
void add_application_cases(std::vector<test_case>& to, const std::shared_ptr<const store_source<Given>>& source) {
    using namespace detail;
    const auto add = adder_of_cases(to, source);

    add("application: a creation or an added secret that is called again with the same digests is the same", [](auto& store) {
        const auto application = sample_application("tgi_a");
        const auto id = value_of(store.create_application(application, 1));
        expect(value_of(store.create_application(application, 1)) == id, "a repeated call returns the id of the first");
        auto of_another = application;
        of_another.owner = user_id{application.owner.value() + 1};
        expect_error("create_application", store.create_application(of_another, 1), error_kind::conflict);

        for (int n = 0; n < 2; ++n) {
            expect_true(store.change_application(application.owner, id,
                                                 client_secret_addition{sample_digest(51), application.secret_digest}),
                        "a repeated call returns the result of the first");
            const auto found = found_of(store.find_application("tgi_a"));
            expect(found.secret_digest == sample_digest(51) && found.older_secret_digest == application.secret_digest,
                   "a repeated call keeps the previous secret");
        }
        expect_false(store.change_application(application.owner, id,
                                              client_secret_addition{sample_digest(52), application.secret_digest}),
                     "another call finds another secret");
    });

    add("application: a created application is found and listed", [](auto& store) {
        expect_application_unknown(store, "tgi_a");
        auto application = sample_application("tgi_a");
        const auto id = value_of(store.create_application(application, applications_max));
        expect_application_found(store, id, application);
        const auto listed = value_of(store.applications_of(application.owner));
        expect(listed.size() == 1, "an owner's application is listed");
        expect_application(listed[0], id, application);
    });

    add("application: a client_id is compared byte for byte", [](auto& store) {
        value_of(store.create_application(sample_application("tgi_Abc"), applications_max));
        for (const std::string& other : names_like_abc("tgi_")) expect_application_unknown(store, other);
        expect_application_unknown(store, std::string(10'000, 'x'));
        const auto odd = store.find_application("\xff\xfe");
        expect(!odd || !odd->has_value(), "bytes that are no UTF-8 name no application");

        const auto longest = sample_application(std::string(client_id_text::bytes_max, 'c'));
        const auto id = value_of(store.create_application(longest, applications_max));
        expect_application_found(store, id, longest);
        expect_application_unknown(store, std::string(client_id_text::bytes_max - 1, 'c'));
        expect_application_unknown(store, std::string(client_id_text::bytes_max + 1, 'c'));
    });

    add("application: a second application with the same client_id is a conflict", [](auto& store) {
        const auto first = sample_application("tgi_a");
        const auto id = value_of(store.create_application(first, applications_max));
        auto second = sample_application("tgi_a", user_id{4});
        second.name = "Another";
        expect_error("create_application", store.create_application(second, applications_max), error_kind::conflict);
        second.owner = first.owner;
        second.secret_digest = sample_digest(99);
        expect_error("create_application", store.create_application(second, applications_max), error_kind::conflict);
        expect_application_found(store, id, first);
        second.owner = user_id{4};
        expect(value_of(store.applications_of(second.owner)).empty(), "a refused application is not listed");
        expect(value_of(store.applications_of(first.owner)).size() == 1, "the first application is listed once");
    });

    add("application: text is returned byte for byte", [](auto& store) {
        std::int64_t count = 0;
        const auto next = [&](const std::string& text) {
            ++count;
            auto application = sample_application("tgi_" + std::to_string(count), user_id{count});
            application.name = application.website = application.description = text;
            return application;
        };
        for (const std::string& text : difficult_texts()) {
            const auto application = next(text);
            const auto id = value_of(store.create_application(application, applications_max));
            expect_application_found(store, id, application);
            expect_application(value_of(store.applications_of(application.owner)).at(0), id, application);
        }
        for (const std::string& text : refusable_texts()) {
            const auto application = next(text);
            const auto id = store.create_application(application, applications_max);
            if (id) expect_application_found(store, *id, application);
            else expect_application_unknown(store, application.client_id);
        }
    });

    add("application: each type is stored, with none, one or several redirect URLs", [](auto& store) {
        const std::vector<std::string> all{"https://app.example/back", "com.example.app:/back?a=b%0A", "http://127.0.0.1/"};
        for (const auto type : {client_type::confidential, client_type::public_client, client_type::resource_server})
            for (std::size_t count = 0; count <= all.size(); ++count) {
                auto application = sample_application("tgi_" + std::to_string(count) + std::string{to_text(type)});
                application.type = type;
                application.redirect_urls.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count));
                const auto id = value_of(store.create_application(application, applications_max));
                expect_application_found(store, id, application);
                expect_application(value_of(store.applications_of(application.owner)).back(), id, application);
            }
    });

    add("application: times to the millisecond, the largest owner and any digest are stored", [](auto& store) {
        std::int64_t count = 0;
        for (const instant at : difficult_times()) {
            auto application = sample_application("tgi_" + std::to_string(count),
                                                  user_id{(std::numeric_limits<std::int64_t>::max)() - count});
            application.created_at = at;
            application.secret_digest = count == 0 ? digest{} : sample_digest(static_cast<std::uint64_t>(count));
            ++count;
            const auto id = value_of(store.create_application(application, applications_max));
            expect_application_found(store, id, application);
        }
    });

    add("application: applications are listed by owner, oldest first", [](auto& store) {
        std::vector<new_application> applications;
        std::vector<application_id> ids;
        for (const char* name : {"tgi_z", "tgi_a", "tgi_m", "tgi_b"}) {
            applications.push_back(sample_application(name));
            // Later applications have earlier times: the order must be that of creation.
            applications.back().created_at = noon - seconds{static_cast<std::int64_t>(applications.size())};
            ids.push_back(value_of(store.create_application(applications.back(), applications_max)));
            value_of(store.create_application(sample_application(std::string{name} + "_other", user_id{8}),
                                              applications_max));
        }
        const auto listed = value_of(store.applications_of(applications[0].owner));
        expect(listed.size() == applications.size(), "an owner's applications are listed, all of them and no other");
        for (std::size_t i = 0; i < listed.size(); ++i) expect_application(listed[i], ids[i], applications[i]);
        expect(value_of(store.applications_of(user_id{9})).empty(), "an owner without applications has an empty list");
    });

    add("application: an owner has at most the bound", [](auto& store) {
        const auto create = [&](std::string_view client_id, user_id owner, std::size_t max) {
            return store.create_application(sample_application(client_id, owner), max);
        };
        expect_error("create_application", create("tgi_0", user_id{3}, 0), error_kind::invalid);
        const auto first = value_of(create("tgi_1", user_id{3}, 2));
        value_of(create("tgi_2", user_id{3}, 2));
        expect_error("create_application", create("tgi_3", user_id{3}, 2), error_kind::invalid);
        expect_application_unknown(store, "tgi_3");
        value_of(create("tgi_4", user_id{4}, 1));
        value_of(store.delete_application(user_id{3}, first));
        value_of(create("tgi_5", user_id{3}, 2));
        value_of(create("tgi_6", user_id{3}, (std::numeric_limits<std::size_t>::max)()));
        expect(value_of(store.applications_of(user_id{3})).size() == 3, "as many are there as were created");
    });

    add("application: only its owner can add a second secret", [](auto& store) {
        const auto application = sample_application("tgi_a");
        const auto other = sample_application("tgi_b");
        const auto id = value_of(store.create_application(application, applications_max));
        const auto other_id = value_of(store.create_application(other, applications_max));
        const application_id nobodys{other_id.value() + 1};
        expect_false(store.change_application(user_id{4}, id, client_secret_addition{sample_digest(50)}),
                     "the application is another owner's");
        expect_false(store.change_application(application.owner, nobodys, client_secret_addition{sample_digest(50)}),
                     "there is no such application");
        expect_false(store.change_application(application.owner, id, older_secret_removal{}), "there is no older secret");
        expect_application_found(store, id, application);

        const auto secrets = [&] {
            const auto found = *value_of(store.find_application(application.client_id.view()));
            expect(value_of(store.applications_of(application.owner)).front().older_secret_digest == found.older_secret_digest,
                   "a list tells the same");
            return std::pair{found.secret_digest, found.older_secret_digest};
        };
        expect_false(store.change_application(application.owner, id, client_secret_addition{sample_digest(50), sample_digest(49)}),
                     "its secret is another one");
        expect_application_found(store, id, application);
        expect_true(store.change_application(application.owner, id, client_secret_addition{sample_digest(51), application.secret_digest}),
                    "its secret is the given one");
        expect(secrets() == std::pair{sample_digest(51), std::optional{application.secret_digest}}, "both secrets are kept");
        expect_true(store.change_application(application.owner, id, client_secret_addition{sample_digest(52)}),
                     "the application is the owner's");
        expect(secrets() == std::pair{sample_digest(52), std::optional{sample_digest(51)}}, "the first of three is gone");
        expect_false(store.change_application(user_id{4}, id, older_secret_removal{}), "the application is another owner's");
        expect_false(store.change_application(application.owner, nobodys, older_secret_removal{}), "there is no such application");
        expect(secrets().second.has_value(), "only the owner removes a secret");
        expect_true(store.change_application(application.owner, id, older_secret_removal{}), "the application is the owner's");
        expect(secrets() == std::pair{sample_digest(52), std::optional<digest>{}}, "the older secret is gone");
        expect_false(store.change_application(application.owner, id, older_secret_removal{}), "an older secret is removed once");
        expect_application_found(store, other_id, other);
        for (std::uint64_t round = 0; round < 5; ++round) {
            const auto before = secrets().first;
            const auto digest_of_thread = [&](std::size_t i) { return sample_digest(1000 * (round + 1) + i); };
            const auto add_one = [&](std::size_t i) {
                return value_of(store.change_application(application.owner, id, client_secret_addition{digest_of_thread(i), before}));
            };
            const auto winner = expect_one_winner(add_one, "exactly one of several parallel calls replaces a secret");
            expect(secrets() == std::pair{digest_of_thread(winner), std::optional{before}}, "both secrets are kept");
        }
    });

    add("application: only its owner can change it", [](auto& store) {
        auto application = sample_application("tgi_a");
        const auto other = sample_application("tgi_b");
        const auto id = value_of(store.create_application(application, applications_max));
        const auto other_id = value_of(store.create_application(other, applications_max));
        for (const std::string& text : difficult_texts()) {
            application_fields changed{.name = text, .website = text, .description = text, .redirect_urls = {}};
            if (text.size() > 100) changed.redirect_urls = {"https://app.example/2", "https://app.example/3", "https://app.example/1"};
            expect_false(store.change_application(user_id{4}, id, changed), "the application is another owner's");
            expect_false(store.change_application(application.owner, application_id{other_id.value() + 1}, changed),
                   "there is no such application");
            expect_application_found(store, id, application);
            expect_true(store.change_application(application.owner, id, changed), "the application is the owner's");
            application.name = application.website = application.description = text;
            application.redirect_urls = changed.redirect_urls;
            expect_application_found(store, id, application);
        }
        expect_application_found(store, other_id, other);
        expect_true(store.change_application(application.owner, id, application_fields{.name = "n", .website = "w", .description = "d",
                                                                         .redirect_urls = {}, .acts_for_owner = true}),
               "the application is the owner's");
        expect(value_of(store.find_application("tgi_a"))->acts_for_owner, "it may act for its owner");
        expect(value_of(store.applications_of(application.owner)).front().acts_for_owner, "a list tells the same");
    });

    add("application: only its owner can delete it", [](auto& store) {
        const auto stored = sample_application("tgi_kept"), lost = sample_application("tgi_lost");
        const auto stored_id = value_of(store.create_application(stored, applications_max));
        const auto lost_id = value_of(store.create_application(lost, applications_max));
        expect_false(store.delete_application(user_id{4}, lost_id), "the application is another owner's");
        expect_application_found(store, lost_id, lost);
        expect_true(store.delete_application(lost.owner, lost_id), "the application is the owner's");
        expect_application_unknown(store, lost.client_id);
        expect_false(store.delete_application(lost.owner, lost_id), "an application is deleted once");
        expect_false(store.change_application(lost.owner, lost_id, client_secret_addition{sample_digest(50)}),
                     "a deleted application has no secrets");
        expect_application_found(store, stored_id, stored);
        expect(value_of(store.applications_of(stored.owner)).size() == 1, "a deleted application is not listed");

        const auto again = value_of(store.create_application(lost, applications_max));
        expect(again != lost_id && again != stored_id, "the id of a deleted application is not used again");
        expect_application_found(store, again, lost);
    });

    add("application: exactly one of several parallel creations with the same client_id succeeds", [](auto& store) {
        for (int round = 0; round < 5; ++round) {
            const std::string client_id = "tgi_" + std::to_string(round);
            const auto owner_of = [](std::size_t i) { return user_id{static_cast<std::int64_t>(i) + 1}; };
            const auto create = [&](std::size_t i) {
                const auto id = store.create_application(sample_application(client_id, owner_of(i)), applications_max);
                return succeeds_unless(error_kind::conflict, "create_application", id);
            };
            const auto winner = expect_one_winner(create, "exactly one creation wins");
            expect(found_of(store.find_application(client_id)).owner == owner_of(winner), "the application is the winner's");
        }
    });

    add("application: parallel creations do not exceed the bound", [](auto& store) {
        constexpr std::size_t bound = thread_count * 2, each_tries = 4;
        std::atomic<std::size_t> won{0};
        in_parallel([&](std::size_t i) {
            for (std::size_t n = 0; n < each_tries; ++n) {
                const auto name = "tgi_" + std::to_string(i) + "_" + std::to_string(n);
                if (succeeds_unless(error_kind::invalid, "create_application", store.create_application(sample_application(name), bound)))
                    ++won;
            }
        });
        expect(won == bound, "exactly as many are created as the bound permits");
        expect(value_of(store.applications_of(user_id{3})).size() == bound, "as many are there as were created");
    });

    add_reopen_case(to, source, "application", [](auto& store) {
        auto stored = sample_application("tgi_kept");
        const auto lost = sample_application("tgi_lost");
        const auto stored_id = value_of(store.create_application(stored, applications_max));
        const auto lost_id = value_of(store.create_application(lost, applications_max));
        stored.secret_digest = sample_digest(50);
        value_of(store.change_application(stored.owner, stored_id, client_secret_addition{stored.secret_digest, {}}));
        value_of(store.change_application(stored.owner, stored_id, older_secret_removal{}));
        value_of(store.delete_application(lost.owner, lost_id));
        return [=](auto& reopened) {
            expect_application_found(reopened, stored_id, stored);
            expect_application_unknown(reopened, lost.client_id);
            const auto next = value_of(reopened.create_application(lost, applications_max));
            expect(next != stored_id && next != lost_id, "ids are never used again, not even by the next process");
        };
    });
}

}  // namespace tollgate::testing

#endif  // TOLLGATE_TESTING_DETAIL_APPLICATIONS_HPP
