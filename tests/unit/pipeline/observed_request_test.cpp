#include <tollgate/pipeline/detail/observed_request.hpp>

#include <tollgate/api/account_api.hpp>

#include <support/shop.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;

namespace {

struct stepping_clock {
    instant* at;
    std::chrono::nanoseconds* reading;
    [[nodiscard]] instant now() const noexcept { return *at; }
    // Each reading takes 5 microseconds, so that a duration shows that there were two.
    [[nodiscard]] std::chrono::nanoseconds steady_now() const noexcept { return *reading += std::chrono::microseconds{5}; }
};

struct recorder {
    struct observation {
        std::string id, trace_id, span_id, parent_span_id, route, client;
        bool sampled;
        instant at;
        std::chrono::nanoseconds duration;
        unsigned status = 0;
        std::string text{};
        std::optional<user_id> user{};
    };
    std::vector<observation>* requests;
    std::vector<observation>* refusals;
    std::vector<observation>* problems;

    static observation copy(const request_context& from) {
        return {std::string{from.id}, std::string{from.trace_id}, std::string{from.span_id}, std::string{from.parent_span_id},
                std::string{from.route}, from.client.to_text(), from.sampled, from.at, from.duration};
    }
    void on_request(const request_record& record) const noexcept {
        auto entry = copy(record.context);
        entry.status = to_number(record.response.status());
        entry.text = record.response.find("X-Request-Id");
        if (record.caller != nullptr) entry.user = record.caller->user;
        requests->push_back(entry);
    }
    void on_refusal(const refusal_record& record) const noexcept {
        auto entry = copy(record.context);
        entry.status = to_number(record.refusal.status);
        refusals->push_back(entry);
    }
    void on_problem(const problem_record& record) const noexcept {
        auto entry = record.context != nullptr ? copy(*record.context) : observation{};
        entry.text = record.error.cause;
        problems->push_back(entry);
    }
};

struct observed {
    std::vector<recorder::observation> requests, refusals, problems;
    instant at = from_unix_seconds(1'800'000'000);
    std::chrono::nanoseconds reading{0};
};

/// Policies with an observer that stores its records.
struct observe {
    observed* by;
    auto operator()(auto all) const {
        return std::move(all)
            .with_clock(stepping_clock{&by->at, &by->reading})
            .with_observer(recorder{&by->requests, &by->refusals, &by->problems});
    }
};

struct observed_shop : observed, basic_shop<observe> {
    observed_shop() : basic_shop{observe{this}} {}

    http::response get(std::string path, const std::vector<std::pair<std::string, std::string>>& fields = {}) {
        test_request request{http::method::get, std::move(path)};
        for (const auto& [name, value] : fields) request.field(name, value);
        return handle(request);
    }
};

constexpr std::string_view sent_trace = "0af7651916cd43dd8448eb211c80319c";
const std::string sent_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

}  // namespace

TEST_CASE("each request gets its own id and trace", "[pipeline][observed_request]") {
    observed_shop shop;
    const auto response = shop.get("/v1/testservice/get");
    REQUIRE(shop.requests.size() == 1);
    const auto recorded = shop.requests.front();
    CHECK(recorded.status == 200);
    CHECK(recorded.id.size() == 32);
    CHECK(response.find("X-Request-Id") == recorded.id);
    CHECK(recorded.text == recorded.id);  // the observer sees the response with it
    CHECK(recorded.trace_id == recorded.id);
    CHECK(recorded.span_id.size() == 16);
    CHECK(recorded.parent_span_id.empty());
    CHECK(recorded.sampled);
    CHECK(recorded.route == "/testservice/get");
    CHECK(recorded.client == "192.0.2.1");
    CHECK(recorded.at == shop.observed::at);
    CHECK(recorded.duration == std::chrono::microseconds{5});
    CHECK(shop.get("/v1/testservice/get").find("X-Request-Id") != recorded.id);
}

TEST_CASE("a well-formed id and trace of the client are continued", "[pipeline][observed_request]") {
    observed_shop shop;
    CHECK(shop.get("/v1/testservice/get", {{"X-Request-Id", "job-7.2"}, {"traceparent", sent_parent}}).find("X-Request-Id") == "job-7.2");
    const auto recorded = shop.requests.front();
    CHECK(recorded.id == "job-7.2");
    CHECK(recorded.trace_id == sent_trace);
    CHECK(recorded.parent_span_id == "b7ad6b7169203331");
    CHECK_FALSE(recorded.sampled);
    CHECK(recorded.span_id != recorded.parent_span_id);
    CHECK(recorded.span_id.size() == 16);

    // A malformed or repeated value is replaced.
    const auto replaced = shop.get("/v1/testservice/get", {{"X-Request-Id", "a b"}, {"traceparent", sent_parent.substr(1)}});
    CHECK(replaced.find("X-Request-Id") == shop.requests[1].id);
    CHECK(shop.requests[1].id.size() == 32);
    CHECK(shop.requests[1].trace_id == shop.requests[1].id);
    shop.get("/v1/testservice/get", {{"traceparent", sent_parent}, {"traceparent", sent_parent}});
    CHECK(shop.requests[2].trace_id == shop.requests[2].id);
}

TEST_CASE("every response of the API has an id, and a route if the request has one", "[pipeline][observed_request]") {
    struct {
        std::string path;
        std::vector<std::pair<std::string, std::string>> fields;
        unsigned status;
        std::string_view route;
    } const cases[] = {
        {"/v1/testservice/get", {}, 200, "/testservice/get"},
        {"/v1/testservice/auth", {}, 401, "/testservice/auth"},
        {"/v1/user/balance", {{"Authorization", "Basic eA=="}}, 401, "/user/balance"},
        {"/v1/sitesmaker/1/hooks", {}, 401, "/{service}/{account}/hooks"},
        {"/v1/nothing", {}, 404, ""},
        {"/v1/testservice/post", {}, 405, "/testservice/post"},
        {"/v1/testservice/get", {{"User-Agent", "second"}}, 403, "/testservice/get"},
        {"/v1/testservice/get", {{"Authorization", "a"}, {"Authorization", "b"}}, 400, "/testservice/get"},
    };
    for (const auto& each : cases) {
        CAPTURE(each.path, each.status);
        observed_shop shop;
        const auto response = shop.get(each.path, each.fields);
        CHECK(to_number(response.status()) == each.status);
        REQUIRE(shop.requests.size() == 1);
        CHECK(shop.requests.front().route == each.route);
        CHECK(response.find("X-Request-Id") == shop.requests.front().id);
    }
}

TEST_CASE("a problem names its request", "[pipeline][observed_request]") {
    observed_shop shop;
    const auto token = shop.personal_token(ann, "user:balance");
    shop.users.failure = unavailable("the database is away");
    const auto response =
        shop.handle(test_request{http::method::get, "/v1/user/balance"}.basic(token.username, token.secret).field("X-Request-Id", "job-8"));
    CHECK(response.status() == http::status::service_unavailable);
    CHECK(response.find("X-Request-Id") == "job-8");
    REQUIRE(shop.problems.size() == 1);
    CHECK(shop.problems.front().text == "the database is away");
    CHECK(shop.problems.front().id == "job-8");
    CHECK(shop.requests.front().span_id == shop.problems.front().span_id);
}

TEST_CASE("the observer sees who was authenticated, whatever the response", "[pipeline][observed_request]") {
    observed_shop shop;
    const auto token = shop.personal_token(ann, "user:balance");
    const auto status_and_user = [&](std::string_view secret) {
        const auto response = shop.handle(test_request{http::method::get, "/v1/user/balance"}.basic(token.username, secret));
        CHECK(response.user() == shop.requests.back().user);
        return std::pair{to_number(response.status()), shop.requests.back().user};
    };
    CHECK(status_and_user(token.secret) == std::pair{200U, std::optional{ann}});
    CHECK(status_and_user("wrong") == std::pair{401U, std::optional<user_id>{}});
    shop.users.throws = true;
    CHECK(status_and_user(token.secret) == std::pair{500U, std::optional{ann}});
    shop.users.failure = unavailable("the database is away");  // so it is unknown whether the user still exists
    CHECK(status_and_user(token.secret) == std::pair{503U, std::optional<user_id>{}});
}

TEST_CASE("a request that the server refuses has an id", "[pipeline][observed_request]") {
    observed_shop shop;
    http::response response;
    shop.api.handle(http::refusal{http::status::bad_request, "Malformed.", *ip_address::parse("192.0.2.9"), false}, response);
    REQUIRE(shop.refusals.size() == 1);
    CHECK(response.find("X-Request-Id") == shop.refusals.front().id);
    CHECK(shop.refusals.front().client == "192.0.2.9");
    CHECK(shop.refusals.front().at == shop.observed::at);
    CHECK(shop.refusals.front().status == 400);
}

TEST_CASE("of a refused request whose head arrived, the observer sees client, id and trace", "[pipeline][observed_request]") {
    observed policies;
    auto settings = shop_settings();
    settings.trusted_proxies = {*ip_network::parse("10.0.0.0/8")};
    basic_shop shop{observe{&policies}, std::move(settings)};
    http::request request;
    request.fields.add("X-Forwarded-For", "203.0.113.5");
    request.fields.add("X-Request-Id", "job-7");
    request.fields.add("traceparent", sent_parent);
    for (const auto& [peer, client] : {std::pair{"10.1.1.1", "203.0.113.5"}, std::pair{"192.0.2.9", "192.0.2.9"}}) {
        http::response response;
        request.peer = *ip_address::parse(peer);
        shop.api.handle(http::refusal{http::status::request_timeout, "Slow.", request.peer, false, &request}, response);
        const auto& recorded = policies.refusals.back();
        CHECK(recorded.client == client);
        CHECK(recorded.id == "job-7");
        CHECK(response.find("X-Request-Id") == "job-7");
        CHECK(recorded.trace_id == sent_trace);
    }
}

TEST_CASE("a clock without a steady reading measures to the millisecond", "[pipeline][observed_request]") {
    struct coarse_clock {
        instant at;
        [[nodiscard]] instant now() const noexcept { return at; }
    };
    CHECK(steady_now(coarse_clock{from_unix_milliseconds(7)}) == milliseconds{7});
    const system_clock real;
    const auto first = steady_now(real);
    CHECK(steady_now(real) >= first);
}
