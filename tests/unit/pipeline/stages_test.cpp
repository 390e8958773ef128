#include <tollgate/pipeline/detail/stages.hpp>

#include <tollgate/limits/window_limiter.hpp>

#include <catch2/catch.hpp>

#include <optional>
#include <string>

using namespace tollgate;

namespace {

struct blocking_limiter : unlimited {
    static constexpr bool blocking = true;
};

struct caching_limiter : blocking_limiter {
    bool is_elsewhere = false;
    [[nodiscard]] bool may_block() const noexcept { return is_elsewhere; }
};

/// Does not say whether it blocks.
struct silent_limiter {
    limit_decision take(const limit_key&, const quota&, instant) noexcept { return {}; }
    limit_decision peek(const limit_key&, const quota&, instant) noexcept { return {}; }
};

/// May block, but can decide without waiting while `knows_decisions`; counts the blocking calls.
struct knowing_limiter {
    static constexpr bool blocking = true;
    bool knows_decisions = false;
    int waits = 0, taken = 0;

    limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept { return peek(key, allowed, now); }
    limit_decision peek(const limit_key&, const quota& allowed, instant now) noexcept {
        ++waits;
        return {false, allowed.requests, 0, now};
    }
    std::optional<limit_decision> try_take(const limit_key& key, const quota& allowed, instant now) noexcept {
        taken += knows_decisions ? 1 : 0;
        return try_peek(key, allowed, now);
    }
    std::optional<limit_decision> try_peek(const limit_key&, const quota& allowed, instant now) noexcept {
        if (!knows_decisions) return std::nullopt;
        return limit_decision{false, allowed.requests, 0, now};
    }
};

}  // namespace

TEST_CASE("an Authorization field is a scheme and credentials", "[pipeline][authenticate]") {
    struct row {
        std::string_view value;
        std::string_view scheme;
        std::optional<std::string_view> credentials;
    };
    const auto each = GENERATE(row{"Basic abc", "Basic", "abc"}, row{"Basic   abc", "Basic", "abc"}, row{"Basic", "Basic", ""},
                               row{"Basic ", "Basic", ""}, row{"bASIC abc", "Basic", "abc"}, row{"Bearer a b", "Bearer", "a b"},
                               row{"", "Basic", std::nullopt}, row{"Basi", "Basic", std::nullopt}, row{"Basics", "Basic", std::nullopt},
                               row{"Basics abc", "Basic", std::nullopt}, row{" Basic abc", "Basic", std::nullopt},
                               row{"Bearer\tabc", "Bearer", std::nullopt}, row{"Bearer abc", "Basic", std::nullopt});
    CAPTURE(each.value);
    CHECK(http::detail::credentials_of(each.value, each.scheme) == each.credentials);
}

TEST_CASE("a path is below a root by whole segments", "[pipeline][route]") {
    CHECK(pipeline::below("/v1", "/v1/user/balance") == "/user/balance");
    CHECK(pipeline::below("", "/user/balance") == "/user/balance");
    CHECK(pipeline::below("/v1", "/v1/") == "/");
    for (const char* path : {"/v1", "/v10/user", "/V1/user", "/v2/user", "/", "", "*"}) CHECK(pipeline::below("/v1", path).empty());
}

TEST_CASE("captures are relocated with the request", "[pipeline][route]") {
    const std::string before = "/v1/sitesmaker/7/hooks";
    http::request request;
    request.target = http::target::from(before);
    pipeline::request_state state;
    state.route.emplace().captured = 2;
    state.route->captures[0] = std::string_view{before}.substr(4, 10);
    state.route->captures[1] = std::string_view{before}.substr(15, 1);
    state.route_path = before.data();
    const std::string after = before;
    request.target = http::target::from(after);
    for (int i = 0; i < 2; ++i) {
        pipeline::relocate_captures(request, state);
        CHECK(state.route->captures[0].view() == "sitesmaker");
        CHECK(state.route->captures[0].view().data() == after.data() + 4);
        CHECK(state.route->captures[1].view() == "7");
        CHECK(state.route->captures[1].view().data() == after.data() + 15);
    }
}

TEST_CASE("whether a limiter blocks is declared, and one that does not say may block", "[pipeline][limit]") {
    const auto may_block = [](auto limiter) { return rate_limiter_ref{limiter}.may_block(); };
    CHECK_FALSE(may_block(unlimited{}));
    CHECK(may_block(blocking_limiter{}));
    CHECK_FALSE(may_block(caching_limiter{}));
    caching_limiter elsewhere;
    elsewhere.is_elsewhere = true;
    CHECK(may_block(elsewhere));
    CHECK(may_block(silent_limiter{}));
}

TEST_CASE("the fields of an uncounted request do not wait for the limiter", "[pipeline][limit]") {
    const auto key = limit_key::of(ip_address::v4(192, 0, 2, 1));
    const quota allowed{60, seconds{3600}};
    const auto now = from_unix_seconds(1'700'000'000);

    knowing_limiter limiter;
    const auto unknown = pipeline::peek_or_unused(limiter, key, allowed, now);
    CHECK(unknown.admitted);
    CHECK(unknown.limit == 60);
    CHECK(unknown.remaining == 60);
    CHECK(unknown.resets_at == now + allowed.window);
    blocking_limiter without_try_peek;
    CHECK(pipeline::peek_or_unused(without_try_peek, key, allowed, now).remaining == 60);

    limiter.knows_decisions = true;
    CHECK(pipeline::peek_or_unused(limiter, key, allowed, now).remaining == 0);
    CHECK(limiter.waits == 0);

    window_limiter local{{64, 64}};
    static_cast<void>(local.take(key, allowed, now));
    CHECK(pipeline::peek_or_unused(local, key, allowed, now).remaining == 59);
}

TEST_CASE("a request is counted once, on an I/O thread only without waiting", "[pipeline][limit]") {
    const account_service_settings settings;
    const http::request request;
    knowing_limiter limiter;
    pipeline::request_state state;
    CHECK_FALSE(pipeline::count_request(limiter, settings, "/x", request, http::thread_kind::io, state));
    CHECK(limiter.waits == 0);
    CHECK_FALSE(state.limit);
    SECTION("on a worker") {
        CHECK(pipeline::count_request(limiter, settings, "/x", request, http::thread_kind::worker, state));
        CHECK(limiter.waits == 1);
    }
    SECTION("with a known decision") {
        limiter.knows_decisions = true;
        CHECK(pipeline::count_request(limiter, settings, "/x", request, http::thread_kind::io, state));
        CHECK(limiter.taken == 1);
        CHECK(limiter.waits == 0);
    }
    SECTION("not counted if a store failed") {
        limiter.knows_decisions = true;
        state.auth.fail(unavailable("down"));
        CHECK(pipeline::count_request(limiter, settings, "/x", request, http::thread_kind::io, state));
        CHECK(limiter.taken == 0);
        CHECK_FALSE(pipeline::check_limit(state));
    }
    CHECK(state.limit->limit == 60);
}

TEST_CASE("JSON's media type is known by its type and charset", "[pipeline][body]") {
    for (const char* good : {"application/json", "APPLICATION/JSON", "application/json;charset=utf-8", "application/json ; charset=UTF-8",
                             "application/json; charset=\"utf-8\"", "application/json;", "application/json; charset=utf-8;",
                             "application/json; ; charset=utf-8 ;;"})
        CHECK(pipeline::is_json_media_type(good));
    for (const char* bad : {"", "json", "application", "application/json+x", "application/jsonp", "text/json",
                            "application/json; charset=utf-16", "application/json; version=1", "application/json; charset=",
                            "application/json;; charset=utf-8; version=1", "application/json charset=utf-8"})
        CHECK_FALSE(pipeline::is_json_media_type(bad));
}

TEST_CASE("a body is checked only if it is read, its size always", "[pipeline][body]") {
    http::request request;
    CHECK_FALSE(pipeline::check_body(request, true));
    request.body = "{}";
    CHECK_FALSE(pipeline::check_body(request, false));
    CHECK(pipeline::check_body(request, true)->status == http::status::unsupported_media_type);
    request.fields.add("Content-Type", "application/json");
    CHECK_FALSE(pipeline::check_body(request, true));
    request.fields.add("Content-Type", "application/json");
    CHECK(pipeline::check_body(request, true)->status == http::status::unsupported_media_type);
    request.body_state = http::body_state::too_large;
    CHECK(pipeline::check_body(request, false)->status == http::status::content_too_large);
}

TEST_CASE("a chunked body that has not arrived is refused for what the head says of it", "[pipeline][body]") {
    struct row {
        std::vector<std::pair<const char*, const char*>> fields;
        bool is_refused;
    };
    for (const row& each : {row{{}, false},  // it may turn out to be empty
                            row{{{"Content-Type", "application/json"}}, false},
                            row{{{"Content-Type", "text/plain"}}, true},
                            row{{{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}}, true},
                            row{{{"Content-Encoding", "gzip"}}, true},
                            row{{{"Expect", "100-continue"}}, true},
                            row{{{"Expect", "100-continue"}, {"Content-Type", "application/json"}}, false}}) {
        http::request request;
        request.body_state = http::body_state::pending;
        request.fields.add("Transfer-Encoding", "chunked");
        for (const auto& [name, value] : each.fields) request.fields.add(name, value);
        CHECK(pipeline::check_body(request, true).has_value() == each.is_refused);
        CHECK_FALSE(pipeline::check_body(request, false));
    }
}

TEST_CASE("a body with a content coding is refused with that reason", "[pipeline][body]") {
    for (const char* coding : {"gzip", "br", "x", "identity, gzip", "identity, identity"}) {
        CAPTURE(coding);
        http::request request;
        request.body = "{}";
        request.fields.add("Content-Type", "application/json");
        request.fields.add("content-ENCODING", coding);
        REQUIRE(pipeline::check_body(request, true));
        CHECK(pipeline::check_body(request, true)->status == http::status::unsupported_media_type);
        CHECK(pipeline::check_body(request, true)->message == "Send the body without a Content-Encoding.");
        CHECK_FALSE(pipeline::check_body(request, false));
        request.body = {};
        CHECK_FALSE(pipeline::check_body(request, true));
        request.body_state = http::body_state::pending;
        CHECK(pipeline::check_body(request, true));  // chunked, or with a length
        request.fields.add("Content-Length", "2");
        CHECK(pipeline::check_body(request, true));
    }
    for (const char* none : {"identity", "IDENTITY", ""}) {
        http::request request;
        request.body = "{}";
        request.fields.add("Content-Type", "application/json");
        request.fields.add("Content-Encoding", none);
        CHECK_FALSE(pipeline::check_body(request, true));
        request.fields.add("Content-Encoding", "gzip");
        CHECK(pipeline::check_body(request, true));
    }
}

TEST_CASE("the type of a body is checked before it arrives, if there is certainly a body", "[pipeline][body]") {
    http::request request;
    request.body_state = http::body_state::pending;
    CHECK_FALSE(pipeline::check_body(request, true));  // chunked: it may be empty
    request.fields.add("Content-Length", "2");
    CHECK_FALSE(pipeline::check_body(request, false));
    CHECK(pipeline::check_body(request, true)->status == http::status::unsupported_media_type);
    request.fields.add("Content-Type", "application/json");
    CHECK_FALSE(pipeline::check_body(request, true));
}

TEST_CASE("a body has the bound of its route, before it arrives and after", "[pipeline][body]") {
    struct {
        const char* declared;  // null: chunked
        std::string body;
        std::size_t bound;
        bool fits;
    } const rows[] = {
        {"4", "", 4, true},
        {"5", "", 4, false},
        {"18446744073709551615", "", 4, false},
        {"5", "", no_body_bound, true},
        {nullptr, "", 4, true},
        {nullptr, "1234", 4, true},
        {nullptr, "12345", 4, false},
        {"5", "12345", 4, false},
        {"5", "12345", no_body_bound, true},
    };
    for (const auto& row : rows) {
        CAPTURE(row.body, row.bound);
        http::request request;
        request.fields.add("Content-Type", "application/json");
        if (row.declared != nullptr) request.fields.add("Content-Length", row.declared);
        request.body = row.body;
        request.body_state = row.body.empty() ? http::body_state::pending : http::body_state::complete;
        const auto refused = pipeline::check_body(request, true, row.bound);
        CHECK(refused.has_value() != row.fits);
        if (refused) CHECK(refused->status == http::status::content_too_large);
    }
}

TEST_CASE("of several windows the response shows the refusal that ends last, or else the window with the fewest requests left",
          "[pipeline][limit]") {
    const auto now = from_unix_seconds(1'700'000'000);
    const limit_decision many{true, 100, 90, now + seconds{60}};
    const limit_decision few{true, 10, 1, now + seconds{10}};
    const limit_decision none_left{true, 10, 0, now + seconds{5}};
    const limit_decision refused{false, 10, 0, now + seconds{10}};
    const limit_decision refused_for_long{false, 100, 0, now + seconds{600}};
    const limit_decision by_rank[] = {refused_for_long, refused, none_left, few, many};
    for (std::size_t i = 0; i < std::size(by_rank); ++i)
        for (std::size_t j = 0; j < std::size(by_rank); ++j) CHECK(pipeline::is_tighter(by_rank[i], by_rank[j]) == (i < j));
}

namespace {

/// Names windows by route: one, none, or two of which the second is small.
struct choosing_limiter : knowing_limiter {
    limit_windows windows_of(const limited_request& request) const noexcept {
        if (request.route == "/none") return {};
        if (request.route == "/two") return {{request.key, request.allowed}, {request.key.in("two"), {1, seconds{60}}}};
        return {{request.key, request.allowed}};
    }
};

}  // namespace

TEST_CASE("several windows need a worker if the limiter may block, one window tries without waiting, and none does not call the limiter",
          "[pipeline][limit]") {
    const account_service_settings settings;
    http::request request;
    choosing_limiter limiter;
    limiter.knows_decisions = true;
    pipeline::request_state state;
    CHECK_FALSE(pipeline::count_request(limiter, settings, "/two", request, http::thread_kind::io, state));
    CHECK(limiter.taken + limiter.waits == 0);
    CHECK(pipeline::count_request(limiter, settings, "/none", request, http::thread_kind::io, state));
    CHECK(limiter.taken + limiter.waits == 0);
    CHECK(state.limit->admitted);
    CHECK(state.limit->remaining == 60);
    CHECK(pipeline::count_request(limiter, settings, "/one", request, http::thread_kind::io, state));
    CHECK(limiter.taken == 1);
    CHECK(limiter.waits == 0);
    CHECK(pipeline::count_request(limiter, settings, "/two", request, http::thread_kind::worker, state));
    CHECK(limiter.waits > 0);
}
