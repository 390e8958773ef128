#include <tollgate/pages/detail/deliveries_page.hpp>

#include <support/page_shop.hpp>

#include <tollgate/testing/detail/delivering.hpp>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

const std::string path = "/en/user/settings/webhooks/";
const account_ref anns_site{*service_name::from("sitesmaker"), account_id{1}};

/// Creates and completes deliveries without sending anything: an outbox worker with the given results.
struct scripted_worker {
    memory_store& store;
    instant& now;
    std::uint8_t events = 0;

    /// Publishes an event; returns the number of its hooks.
    std::size_t report(const account_ref& account, std::string name) {
        message_seed seed{};
        seed[0] = std::byte{++events};
        const auto appended = store.append_event({account, std::move(name), "{}", now}, seed, now);
        return appended ? *appended : 0;
    }

    /// Completes every due delivery with this outcome; returns how many there were.
    std::size_t send(attempt result, delivery_outcome outcome, std::optional<instant> disable_if_failing_since = {}) {
        const auto page = store.due_hooks(now, 1000);
        if (!page) return 0;
        std::vector<lease_request> requests;
        for (const due_hook& each : page->hooks) requests.push_back({each.hook, 100, 100, now});
        const auto leased = store.lease(requests, {now, now + seconds{60}});
        if (!leased) return 0;
        result.at = now;
        std::vector<attempt_result> ended;
        for (const due_delivery& each : *leased)
            ended.push_back({.lease = each.lease,
                             .attempt = result,
                             .outcome = outcome,
                             .retry_at = now + seconds{300},
                             .disable_if_failing_since = disable_if_failing_since});
        return store.complete(ended, now) ? ended.size() : 0;
    }
};

attempt answered(unsigned status, std::string response = {}, milliseconds duration = milliseconds{120}) {
    return {.at = {}, .duration = duration, .end = attempt_end::answered, .status = status, .response = std::move(response)};
}

attempt ended(attempt_end end) {
    return {.at = {}, .duration = milliseconds{2460}, .end = end, .status = 0, .response = {}};
}

/// A user with a hook, and a worker that completes its deliveries.
struct hook_shop : page_shop {
    hook_id hook;
    scripted_worker worker{store, now};

    hook_shop() : hook{add_hook(anns_site)} {}

    hook_id add_hook(const account_ref& account) {
        return issue_hook(store, page_shop_settings().services,
                          {account, "site.created", "https://hooks.ann.example/in?a=b&c", hook_source::api}, now, public_targets{},
                          counting_random{&entropy, &random_works})
            ->id;
    }
    [[nodiscard]] std::string place() const { return path + "?" + pages::query_of({anns_site, hook}); }
    [[nodiscard]] std::string fields() const { return "account=sitesmaker/1&hook=" + std::to_string(hook.value()); }
    [[nodiscard]] std::string last_delivery() {
        return std::to_string(testing::detail::deliveries_of(store, anns_site, hook, 1)->front().id.value());
    }
    void disable() {
        worker.report(anns_site, "site.created");
        worker.send(answered(410), delivery_outcome::gone);
    }
    [[nodiscard]] bool is_disabled() { return store.hooks_of(anns_site)->front().disabled.has_value(); }
    [[nodiscard]] delivery_state state() { return testing::detail::deliveries_of(store, anns_site, hook, 1)->front().state; }
};

}  // namespace

TEST_CASE("the list shows the state of each webhook and links to its deliveries") {
    hook_shop shop;
    const auto link = "href=\"" + path + "?account=sitesmaker%2F1&amp;hook=" + std::to_string(shop.hook.value()) + "\"";
    CHECK(has(shop.get(path), "<span class=\"state good\">Active</span>"));
    CHECK(has(shop.get(path), link));

    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(500), delivery_outcome::retry);
    CHECK(has(shop.get(path), "<span class=\"state care\">Failing</span>"));
    CHECK_FALSE(has(shop.get(path), "Enable webhook"));

    shop.now += seconds{300};
    shop.worker.send(answered(410), delivery_outcome::gone);
    CHECK(has(shop.get(path), "<span class=\"state bad\">Disabled</span>"));
    CHECK(has(shop.get(path), "Enable webhook"));
}

TEST_CASE("a webhook without deliveries") {
    hook_shop shop;
    const auto page = shop.get(shop.place());
    CHECK(to_number(page.status()) == 200);
    CHECK(has(page, "<title>Deliveries of site.created"));
    CHECK(has(page, "https://hooks.ann.example/in?a=b&amp;c"));
    CHECK(has(page, "The next site.created event and its attempts will be listed here"));
    CHECK_FALSE(has(page, "Send again"));
}

TEST_CASE("each attempt shows its time, result, duration and response") {
    hook_shop shop;
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(500, "<script>alert(\"&'\")</script>\x1b[2J\xff", milliseconds{340}),
                     delivery_outcome::retry);
    const auto waiting = shop.get(shop.place());
    CHECK(has(waiting, "<span class=\"state care\">Pending</span>"));
    CHECK(has(waiting, "Next attempt: 14 Nov 2023, 22:18:20 UTC."));
    CHECK(has(waiting, "HTTP status 500"));
    CHECK(has(waiting, "<time datetime=\"2023-11-14T22:13:20Z\">14 Nov 2023, 22:13:20 UTC</time>, 340 ms"));
    CHECK(has(waiting, "<pre>\n&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;\\x1b[2J"));
    CHECK_FALSE(has(waiting, "<script"));
    CHECK_FALSE(has(waiting, "\x1b"));

    shop.now += seconds{300};
    shop.worker.send(answered(204, {}, milliseconds{1960}), delivery_outcome::delivered);
    const auto done = shop.get(shop.place());
    CHECK(has(done, "<span class=\"state good\">Delivered</span>"));
    CHECK(has(done, "HTTP status 204"));
    CHECK(has(done, "2.0 s"));
    CHECK(has(done, "HTTP status 500"));
    CHECK(done.body().find("HTTP status 204") < done.body().find("HTTP status 500"));
    CHECK_FALSE(has(done, "ext attempt"));
    const auto listed = testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 1);
    CHECK(has(done, std::string{"<code>"} + std::string{listed->front().message_id.view()} + "</code>"));
    CHECK_FALSE(has(shop.get(shop.place(), "bob"), "HTTP status"));
}

TEST_CASE("failures are explained in plain words") {
    const attempt_texts texts;
    CHECK(pages::ending_of(answered(200), texts) == "HTTP status 200");
    CHECK(pages::ending_of(answered(299), texts) == "HTTP status 299");
    CHECK(pages::ending_of(answered(301), texts) == "HTTP status 301: redirects are not followed");
    CHECK(pages::ending_of(answered(399), texts) == "HTTP status 399: redirects are not followed");
    CHECK(pages::ending_of(answered(400), texts) == "HTTP status 400");
    for (const auto& [end, text] : {std::pair{attempt_end::no_address, texts.no_address},
                                    std::pair{attempt_end::refused_address, texts.refused_address},
                                    std::pair{attempt_end::no_connection, texts.no_connection},
                                    std::pair{attempt_end::no_tls, texts.no_tls},
                                    std::pair{attempt_end::timed_out, texts.timed_out},
                                    std::pair{attempt_end::broken_off, texts.broken_off},
                                    std::pair{attempt_end::bad_response, texts.bad_response}})
        CHECK(pages::ending_of(ended(end), texts) == text);
    for (const auto& [cause, text] : {std::pair{attempt_cause::name_not_found, texts.name_not_found},
                                      std::pair{attempt_cause::no_name_server, texts.no_name_server},
                                      std::pair{attempt_cause::connection_refused, texts.connection_refused},
                                      std::pair{attempt_cause::unreachable, texts.unreachable},
                                      std::pair{attempt_cause::connect_timeout, texts.connect_timeout},
                                      std::pair{attempt_cause::handshake_timeout, texts.handshake_timeout},
                                      std::pair{attempt_cause::response_timeout, texts.response_timeout},
                                      std::pair{attempt_cause::certificate_expired, texts.certificate_expired},
                                      std::pair{attempt_cause::certificate_not_yet_valid, texts.certificate_not_yet_valid},
                                      std::pair{attempt_cause::certificate_for_other_host, texts.certificate_for_other_host},
                                      std::pair{attempt_cause::certificate_not_trusted, texts.certificate_not_trusted},
                                      std::pair{attempt_cause::certificate_invalid, texts.certificate_invalid}}) {
        attempt one = ended(attempt_end::timed_out);
        one.cause = cause;
        CHECK(pages::ending_of(one, texts) == text);
    }
}

TEST_CASE("durations are rounded to a useful precision") {
    const auto text = [](milliseconds duration) { return pages::duration_of(answered(200, {}, duration), {}); };
    CHECK(text(milliseconds{0}) == "0 ms");
    CHECK(text(milliseconds{999}) == "999 ms");
    CHECK(text(milliseconds{1000}) == "1.0 s");
    CHECK(text(milliseconds{1049}) == "1.0 s");
    CHECK(text(milliseconds{1050}) == "1.1 s");
    CHECK(text(milliseconds{15000}) == "15.0 s");
}

TEST_CASE("a truncated response is marked") {
    hook_shop shop;
    std::string response(limits::attempt_response_bytes_max - 1, 'a');
    response.push_back('\xc3');  // the first byte of a two-byte character
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(500, response), delivery_outcome::given_up);
    const auto page = shop.get(shop.place());
    CHECK(has(page, "Response body (truncated)"));
    CHECK(has(page, "aaa</pre>"));
    CHECK(has(page, "<span class=\"state bad\">Failed</span>"));
}

TEST_CASE("owners resend deliveries, and the page confirms it") {
    hook_shop shop;
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(200), delivery_outcome::delivered);
    const auto form = "action=send_again&" + shop.fields() + "&delivery=" + shop.last_delivery();

    for (const auto* other : {"", "0", "01", "x", "999999"}) {
        CAPTURE(other);
        CHECK(to_number(shop.post(path, "action=send_again&" + shop.fields() + "&delivery=" + other).status()) == 404);
    }
    CHECK(to_number(shop.post(path, form, "bob").status()) == 404);
    const auto through_bobs = "action=send_again&account=sitesmaker/3&hook=" + std::to_string(shop.hook.value()) +
                              "&delivery=" + shop.last_delivery();
    CHECK(to_number(shop.post(path, through_bobs, "bob").status()) == 404);
    CHECK(to_number(shop.post_unchanged(path, form).status()) == 403);
    CHECK(shop.state() == delivery_state::delivered);

    CHECK(has(shop.get(shop.place()), "<button class=\"quiet\">Send again"));
    const auto redirect = shop.post(path, form);
    CHECK(to_number(redirect.status()) == 303);
    CHECK(redirect.find("Location") == shop.place() + "&done=sent_again");
    CHECK(shop.state() == delivery_state::waiting);
    const auto page = shop.get(std::string{redirect.find("Location")});
    CHECK(has(page, "The delivery was queued again. <a href=\"" + path + "?account=sitesmaker%2F1&amp;hook=" +
                        std::to_string(shop.hook.value()) + "\">See the result</a>"));
    CHECK(has(page, "<span class=\"state\">Pending</span>"));
    CHECK(shop.worker.send(answered(200), delivery_outcome::delivered) == 1);
    CHECK(shop.state() == delivery_state::delivered);
}

TEST_CASE("a failing webhook without pending deliveries promises no retries") {
    hook_shop shop;
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(500), delivery_outcome::given_up);
    CHECK(has(shop.get(shop.place()), "No attempt has succeeded since 14 Nov 2023, 22:13:20 UTC."));
    CHECK_FALSE(has(shop.get(shop.place()), "increasing intervals"));
}

TEST_CASE("deliveries of the same second have distinct buttons") {
    hook_shop shop;
    for (int i = 0; i < 2; ++i) {
        shop.worker.report(anns_site, "site.created");
        shop.worker.send(answered(200), delivery_outcome::delivered);
    }
    const auto page = shop.get(shop.place());
    const auto listed = testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 2);
    for (const delivery& each : *listed)
        CHECK(has(page, "<span class=\"unseen\"> 14 Nov 2023, 22:13:20 UTC " + std::string{each.message_id.view()} + "</span>"));
}

TEST_CASE("a disabled webhook shows the reason, holds its deliveries, and can be enabled") {
    hook_shop shop;
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(500), delivery_outcome::retry);
    shop.disable();
    REQUIRE(shop.is_disabled());
    const auto page = shop.get(shop.place());
    CHECK(has(page, "Disabled on 14 Nov 2023, 22:13:20 UTC: the URL responded with status 410 (Gone)"));
    CHECK(has(page, "<span class=\"state care\">Held</span>"));
    CHECK(has(page, "Enable webhook"));
    CHECK_FALSE(has(page, "Send again"));

    // From a page that was loaded before the resend.
    const auto refused = shop.post(path, "action=send_again&" + shop.fields() + "&delivery=" + shop.last_delivery());
    CHECK(to_number(refused.status()) == 409);
    CHECK(has(refused, "<title>Error: Deliveries of site.created"));
    CHECK(has(refused, "role=\"alert\"><p>Deliveries of a disabled webhook cannot be sent."));

    CHECK(to_number(shop.post(path, "action=enable&" + shop.fields(), "bob").status()) == 404);
    CHECK(to_number(shop.post(path, "action=enable&account=sitesmaker/2&hook=" + std::to_string(shop.hook.value())).status()) ==
          404);
    CHECK(to_number(shop.post_unchanged(path, "action=enable&" + shop.fields()).status()) == 403);
    CHECK(shop.is_disabled());

    const auto enabled = shop.post(path, "action=enable&" + shop.fields());
    CHECK(enabled.find("Location") == shop.place() + "&done=enabled");
    CHECK_FALSE(shop.is_disabled());
    const auto after = shop.get(std::string{enabled.find("Location")});
    CHECK(has(after, "The webhook was enabled."));
    CHECK(has(after, "<span class=\"state good\">Active</span>"));
    CHECK_FALSE(has(after, "<span class=\"state care\">Held</span>"));
}

TEST_CASE("a failing webhook shows since when, and later why it was disabled") {
    hook_shop shop;
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(ended(attempt_end::no_connection), delivery_outcome::retry);
    CHECK(has(shop.get(shop.place()), "No attempt has succeeded since 14 Nov 2023, 22:13:20 UTC."));
    CHECK(has(shop.get(shop.place()), "Could not connect"));
    CHECK(has(shop.get(shop.place()), "2.5 s"));
    CHECK(has(shop.get("/de" + shop.place().substr(3)), "2,5 s"));
    CHECK(has(shop.get(shop.place()), "Pending deliveries are retried at increasing intervals."));
    CHECK_FALSE(has(shop.get(shop.place() + "&state=failed"), "Pending deliveries are retried"));  // none of them is listed
    const auto since = shop.now;
    shop.now += seconds{86400};
    shop.worker.send(ended(attempt_end::timed_out), delivery_outcome::retry, since);
    const auto page = shop.get(shop.place());
    CHECK(has(page, "Disabled on 15 Nov 2023, 22:13:20 UTC: all attempts had failed for too long."));
    // The message of an action that was undone since is not shown.
    CHECK_FALSE(has(shop.get(shop.place() + "&done=enabled"), "The webhook was enabled."));
}

namespace {

std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("the list is bounded, and the next page has older deliveries") {
    hook_shop shop;
    const auto count = 2 * pages::deliveries_shown_max + 1;
    for (std::size_t i = 0; i < pages::deliveries_shown_max; ++i) shop.worker.report(anns_site, "site.created");
    const auto older_link = [&](std::size_t last) {
        const auto id = testing::detail::deliveries_of(shop.store, anns_site, shop.hook, count)->at(last).id;
        return "<a href=\"" + path + "?account=sitesmaker%2F1&amp;hook=" + std::to_string(shop.hook.value()) +
               "&amp;before=" + std::to_string(id.value()) + "\">Older</a>";
    };
    CHECK_FALSE(has(shop.get(shop.place()), "<nav aria-label=\"More deliveries\">"));  // all of them fit

    while (testing::detail::deliveries_of(shop.store, anns_site, shop.hook, count)->size() < count)
        shop.worker.report(anns_site, "site.created");
    const auto listed = *testing::detail::deliveries_of(shop.store, anns_site, shop.hook, count);
    std::size_t first = 0;
    std::string place = shop.place();
    for (const std::size_t size : {pages::deliveries_shown_max, pages::deliveries_shown_max, std::size_t{1}}) {
        const auto page = shop.get(place);
        const std::string body{page.body()};
        CHECK(count_of(body, "No attempts yet.") == size);
        for (std::size_t i = 0; i < count; ++i) {
            const auto name = "<code>" + std::string{listed[i].message_id.view()} + "</code>";
            CHECK(has(page, name) == (i >= first && i < first + size));
        }
        CHECK(count_of(body, ">Newest</a>") == (first == 0 ? 0 : 1));
        first += size;
        CHECK(count_of(body, ">Older</a>") == (first == count ? 0 : 1));
        if (first != count) CHECK(has(page, older_link(first - 1)));
        place = shop.place() + "&before=" + std::to_string(listed[first - 1].id.value());
    }
    const auto beyond = shop.get(place);
    CHECK(to_number(beyond.status()) == 200);
    CHECK(has(beyond, "There are no older deliveries"));
    CHECK(has(beyond, ">Newest</a>"));
    CHECK_FALSE(has(beyond, "will be listed here"));
    for (const auto* odd : {"0", "x", "-1", "01", "99999999999999999999"})
        CHECK(to_number(shop.get(shop.place() + "&before=" + odd).status()) == 404);
    CHECK(to_number(shop.get(shop.place() + "&before=").status()) == 200);
    CHECK(to_number(shop.get(place, "bob").status()) == 404);
}

TEST_CASE("each listed delivery has its last attempts, and a page with more of them") {
    hook_shop shop;
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(418), delivery_outcome::given_up);
    const auto first = testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 1)->front().id;
    for (int i = 0; i < 10; ++i) {
        shop.worker.report(anns_site, "site.created");
        for (int n = 0; n < 8; ++n, shop.now += seconds{300})
            shop.worker.send(answered(503), delivery_outcome::retry);
        shop.worker.send(answered(200), delivery_outcome::delivered);
    }
    const auto page = shop.get(shop.place());
    CHECK(count_of(std::string{page.body()}, "HTTP status 200") == 10);
    CHECK(count_of(std::string{page.body()}, "HTTP status 503") == 20);
    CHECK(has(page, "HTTP status 418"));
    const auto place = [&](delivery_id id) { return shop.place() + "&delivery=" + std::to_string(id.value()); };
    CHECK(has(page, "&amp;delivery=" + std::to_string(first.value()) + "\">Attempts<span class=\"unseen\"> "));
    const auto last = testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 1)->front();
    const auto one = shop.get(place(last.id));
    CHECK(count_of(std::string{one.body()}, "HTTP status 503") == 8);
    CHECK(count_of(std::string{one.body()}, "HTTP status 200") == 1);
    CHECK_FALSE(has(one, "HTTP status 418"));
    CHECK(has(one, "<h1>Delivery of " + web::moment_text(last.created_at, {})));
    CHECK(has(one, "<span class=\"state good\">Delivered</span>"));
    CHECK(has(one, std::string{last.message_id.view()}));
    CHECK_FALSE(has(one, "The last 12 attempts."));

    for (std::size_t i = 1; i < pages::attempts_shown_max + 2; ++i) {
        REQUIRE(*shop.store.resend(anns_site, first, shop.now));
        shop.worker.send(answered(418), delivery_outcome::given_up);
    }
    const auto full = shop.get(place(first));
    CHECK(count_of(std::string{full.body()}, "HTTP status 418") == pages::attempts_shown_max);
    CHECK(has(full, "The last 12 attempts."));
    CHECK(count_of(std::string{shop.get(shop.place()).body()}, "HTTP status 418") == pages::attempts_listed_max);
    const auto sent = shop.post(path, "action=send_again&" + shop.fields() + "&delivery=" + std::to_string(first.value()));
    CHECK(sent.find("Location") == shop.place() + "&done=sent_again");

    for (const auto* odd : {"", "0", "x", "01", "999999", "9223372036854775807"})
        CHECK(to_number(shop.get(shop.place() + "&delivery=" + odd).status()) == 404);
    CHECK(to_number(shop.get(place(first), "bob").status()) == 404);
    // Of another webhook of the same account.
    const auto other = pages::query_of({anns_site, shop.add_hook(anns_site)});
    CHECK(to_number(shop.get(path + "?" + other + "&delivery=" + std::to_string(first.value())).status()) == 404);
}

TEST_CASE("neither many nor large attempts make a large page") {
    hook_shop shop;
    auto failed = answered(500, std::string(limits::attempt_response_bytes_max, '&'));
    failed.request = std::string(limits::attempt_request_bytes_max, '"');
    for (std::size_t i = 0; i < pages::deliveries_shown_max; ++i) {
        shop.worker.report(anns_site, "site.created");
        for (int n = 0; n < 2; ++n, shop.now += seconds{300}) shop.worker.send(failed, delivery_outcome::retry);
        shop.worker.send(failed, delivery_outcome::given_up);
    }
    const auto page = shop.get(shop.place());
    CHECK(count_of(std::string{page.body()}, "HTTP status 500") == pages::deliveries_shown_max * pages::attempts_listed_max);
    CHECK(count_of(std::string{page.body()}, "<details") == pages::exchanges_bytes_max / (8 * 1024));
    CHECK(page.body().size() < 1'000'000);
    for (int n = 0; n < 20; ++n) {
        REQUIRE(*shop.store.resend(anns_site, testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 1)->front().id, shop.now));
        shop.worker.send(failed, delivery_outcome::given_up);
    }
    const auto one = shop.get(shop.place() + "&delivery=" + shop.last_delivery());
    CHECK(count_of(std::string{one.body()}, "<details") == pages::attempts_shown_max);
    CHECK(one.body().size() < 1'000'000);
}

TEST_CASE("the page of deliveries makes two store calls at the most") {
    struct counting_store : memory_store {
        int calls = 0;
        auto hooks_of(const account_ref& account) { return ++calls, memory_store::hooks_of(account); }
        auto deliveries_of(const account_ref& account, const delivery_query& query) {
            return ++calls, memory_store::deliveries_of(account, query);
        }
    };
    page_shop shop;
    counting_store store;
    account_pages all_pages{page_shop_settings(), shop.users, store, shop.sessions,
                            default_policies().with_clock(fake_clock{&shop.now})};
    const auto hook = issue_hook(store, page_shop_settings().services, {anns_site, "site.created", "https://a.example/", hook_source::api},
                                 shop.now)
                          ->id;
    scripted_worker worker{store, shop.now};
    for (int i = 0; i < 60; ++i) worker.report(anns_site, "site.created");
    worker.send(answered(500), delivery_outcome::retry);  // the webhook is failing
    const auto place = path + "?" + pages::query_of({anns_site, hook});
    const auto last = testing::detail::deliveries_of(store, anns_site, hook, 1)->front().id.value();
    for (const auto& target : {place, place + "&state=failed", place + "&before=" + std::to_string(last),
                               place + "&delivery=" + std::to_string(last)}) {
        CAPTURE(target);
        store.calls = 0;
        test_request request{http::method::get, target};
        request.field("Cookie", "who=ann");
        CHECK(to_number(all_pages.handle(request.view()).status()) == 200);
        CHECK(store.calls <= 2);
    }
}

TEST_CASE("an attempt shows its request beside its response") {
    hook_shop shop;
    shop.worker.report(anns_site, "site.created");
    auto failed = answered(500, "no");
    failed.request = "POST /in?a=b&c HTTP/1.1\r\nwebhook-id: msg_1\r\n\r\n{\"type\": \"<b>\"}\x1b";
    shop.worker.send(failed, delivery_outcome::retry);
    const auto page = shop.get(shop.place());
    CHECK(has(page, "<p class=\"hint\">Request</p>\n<pre>\nPOST /in?a=b&amp;c HTTP/1.1"));
    CHECK(has(page, "webhook-id: msg_1"));
    CHECK(has(page, "{&quot;type&quot;: &quot;&lt;b&gt;&quot;}\\x1b</pre>"));
    CHECK(has(page, "<p class=\"hint\">Response body</p>\n<pre>\nno</pre>"));

    shop.now += seconds{300};
    failed.request = std::string(limits::attempt_request_bytes_max, 'r');
    failed.response.clear();
    shop.worker.send(failed, delivery_outcome::given_up);
    CHECK(has(shop.get(shop.place()), "<p class=\"hint\">Request (truncated)</p>\n<pre>\nrrr"));
}

TEST_CASE("deliveries are filtered by their result") {
    hook_shop shop;
    for (int i = 0; i < 3; ++i) {
        shop.worker.report(anns_site, "site.created");
        shop.worker.send(answered(200 + static_cast<unsigned>(i)), i == 1 ? delivery_outcome::given_up : delivery_outcome::delivered);
    }
    shop.worker.report(anns_site, "site.created");
    const auto page_with = [&](std::string_view state) { return shop.get(shop.place() + "&state=" + std::string{state}); };
    const auto has_status = [](const http::response& page, unsigned status) { return has(page, "HTTP status " + std::to_string(status)); };
    const auto failed = page_with("failed"), delivered = page_with("delivered"), pending = page_with("pending");
    CHECK((has_status(failed, 201) && !has_status(failed, 200) && !has_status(failed, 202)));
    CHECK((!has_status(delivered, 201) && has_status(delivered, 200) && has_status(delivered, 202)));
    CHECK((has(pending, "No attempts yet.") && !has_status(pending, 200)));
    CHECK(has(page_with("held"), "There are no deliveries with this result."));
    const auto link = "href=\"" + path + "?account=sitesmaker%2F1&amp;hook=" + std::to_string(shop.hook.value());
    CHECK(has(failed, link + "&amp;state=failed\" aria-current=\"true\">Failed</a>"));
    CHECK(has(shop.get(shop.place()), link + "\" aria-current=\"true\">All</a>"));
    for (const auto* odd : {"x", "given_up", "Failed", "0"}) CHECK(to_number(page_with(odd).status()) == 404);
    for (std::size_t i = 0; i < pages::deliveries_shown_max; ++i) shop.worker.report(anns_site, "site.created");
    CHECK(has(page_with("pending"), "&amp;state=pending&amp;before="));
}

TEST_CASE("a test event goes to one webhook of its owner") {
    hook_shop shop;
    const auto other = shop.add_hook(anns_site);
    const auto form = "action=test&" + shop.fields();
    CHECK(has(shop.get(shop.place()), "Send test event"));
    CHECK(to_number(shop.post(path, form, "bob").status()) == 404);
    CHECK(to_number(shop.post(path, "action=test&account=sitesmaker/2&hook=" + std::to_string(shop.hook.value())).status()) == 404);
    CHECK(to_number(shop.post(path, "action=test&account=sitesmaker/1&hook=99").status()) == 404);
    CHECK(to_number(shop.post_unchanged(path, form).status()) == 403);
    CHECK(testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 9)->empty());

    const auto done = shop.post(path, form);
    CHECK(done.find("Location") == shop.place() + "&done=tested");
    const auto page = shop.get(std::string{done.find("Location")});
    CHECK((has(page, "A ping test event was queued.") && has(page, "<code>ping</code>")));
    REQUIRE(testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 9)->size() == 1);
    CHECK(testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 9)->front().event == "ping");
    CHECK(testing::detail::deliveries_of(shop.store, anns_site, other, 9)->empty());

    shop.worker.send(answered(410), delivery_outcome::gone);
    CHECK_FALSE(has(shop.get(shop.place()), "Send test event"));
    const auto refused = shop.post(path, form);
    CHECK(to_number(refused.status()) == 409);
    CHECK(has(refused, "Deliveries of a disabled webhook cannot be sent."));
}

TEST_CASE("a user sends at most 60 test events an hour") {
    hook_shop shop;
    const auto other = shop.add_hook(anns_site);
    const auto send = [&](const std::string& to) { return shop.post(path, "action=test&account=sitesmaker/1&hook=" + to); };
    for (int i = 0; i < 60; ++i) CHECK(to_number(send(std::to_string((i % 2 == 0 ? shop.hook : other).value())).status()) == 303);
    const auto refused = send(std::to_string(other.value()));
    CHECK(to_number(refused.status()) == 429);
    CHECK(refused.find("Retry-After") == "3600");
    CHECK(testing::detail::deliveries_of(shop.store, anns_site, other, 99)->size() == 30);
    CHECK(to_number(shop.get(shop.place()).status()) == 200);
    shop.now += seconds{3600};
    CHECK(to_number(send(std::to_string(other.value())).status()) == 303);
}

TEST_CASE("all deliveries that failed since a time are sent again") {
    hook_shop shop;
    const auto fail = [&] {
        shop.worker.report(anns_site, "site.created");
        shop.worker.send(answered(500), delivery_outcome::given_up);
    };
    fail();
    shop.now += seconds{3 * 24 * 3600};
    for (int i = 0; i < 2; ++i) fail();
    shop.worker.report(anns_site, "site.created");
    shop.worker.send(answered(200), delivery_outcome::delivered);
    const auto form = [&](std::string_view since) { return "action=resend_failed&" + shop.fields() + "&since=" + std::string{since}; };
    CHECK(to_number(shop.post(path, form("day"), "bob").status()) == 404);
    CHECK(to_number(shop.post_unchanged(path, form("day")).status()) == 403);
    for (const auto* odd : {"", "x", "year", "-1"}) CHECK(to_number(shop.post(path, form(odd)).status()) == 404);
    const auto waiting = [&] { return testing::detail::deliveries_of(shop.store, anns_site, shop.hook, 99, {}, delivery_state::waiting)->size(); };
    CHECK(waiting() == 0);

    const auto done = shop.post(path, form("hour"));
    CHECK(done.find("Location") == shop.place() + "&done=resent_2");
    CHECK(waiting() == 2);
    CHECK(has(shop.get(std::string{done.find("Location")}), "Deliveries queued again: 2 ("));
    CHECK(shop.post(path, form("day")).find("Location") == shop.place() + "&done=resent_0");
    CHECK(has(shop.get(shop.place() + "&done=resent_0"), "No failed deliveries are left from that time."));
    CHECK_FALSE(has(shop.get(shop.place() + "&done=resent_<b>"), "queued again"));
    CHECK(shop.post(path, form("week")).find("Location") == shop.place() + "&done=resent_1");

    shop.disable();
    CHECK(to_number(shop.post(path, form("week")).status()) == 409);
}

TEST_CASE("webhooks of other users are a 404") {
    hook_shop shop;
    const auto number = std::to_string(shop.hook.value());
    for (const std::string& query :
         {"hook=" + number, std::string{"account=sitesmaker%2F1&hook="}, std::string{"account=sitesmaker%2F1&hook=999"},
          "account=sitesmaker%2F2&hook=" + number, "account=itemplatform%2F1&hook=" + number,
          "account=sitesmaker%2F3&hook=" + number, "account=nothing%2F1&hook=" + number,
          "account=sitesmaker%2F1&hook=0" + number}) {
        CAPTURE(query);
        CHECK(to_number(shop.get(path + "?" + query).status()) == 404);
    }
    CHECK(to_number(shop.get(shop.place(), "bob").status()) == 404);
    const auto away = shop.get(shop.place(), "");
    CHECK(away.find("Location") == "/en/user/sign_in/?return_to=" + tollgate::detail::percent_encode(shop.place()));
}

TEST_CASE("a store without an outbox still has a webhooks page") {
    struct plain_store : memory_store {
        void append_event() {}  // in place of the outbox function
    };
    static_assert(hook_store<plain_store> && !outbox<plain_store>);
    hook_shop shop;
    plain_store store;
    account_pages all_pages{page_shop_settings(), shop.users, store, shop.sessions};
    const auto id = issue_hook(store, page_shop_settings().services,
                               {anns_site, "site.created", "https://a.example/", hook_source::api}, shop.now)
                        ->id;
    const auto send = [&](http::method method, std::string target, std::string body) {
        test_request request{method, std::move(target)};
        request.field("Cookie", "who=ann");
        if (method == http::method::post) request.body(std::move(body), "application/x-www-form-urlencoded");
        return all_pages.handle(request.view());
    };
    const auto list = send(http::method::get, path, {});
    CHECK(has(list, "https://a.example/"));
    CHECK_FALSE(has(list, "Deliveries"));
    CHECK_FALSE(has(list, "class=\"state"));
    CHECK(to_number(send(http::method::get, path + "?" + pages::query_of({anns_site, id}), {}).status()) == 404);
    const auto token = "&form_token=" + page_shop::token_on(list);
    for (const auto* action : {"action=enable&", "action=send_again&delivery=1&", "action=test&", "action=resend_failed&since=day&"})
        CHECK(to_number(send(http::method::post, path, action + pages::query_of({anns_site, id}) + token).status()) == 404);
    CHECK(to_number(send(http::method::post, path, page_shop::form_of(list, "new_secret")).status()) == 303);
}
