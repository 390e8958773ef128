#include <tollgate/http/site.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;

namespace {

struct named_handler {
    static constexpr bool blocking = false;
    std::string name;
    void handle(const http::request&, http::response& out) noexcept { out.body() = name; }
    void handle(const http::refusal& refusal, http::response& out) noexcept {
        out.set_status(refusal.status);
        out.body() = name;
    }
};

struct blocking_handler : named_handler {
    static constexpr bool blocking = true;
};

struct settled_handler : named_handler {
    [[nodiscard]] std::vector<std::string> mounts() const { return {"/en", "/token", "/"}; }
};

/// Needs a worker for a POST, and for no other request.
struct half_blocking_handler : blocking_handler {
    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state&,
                                            http::thread_kind thread) noexcept {
        if (request.method == http::method::post && thread == http::thread_kind::io) return http::handle_step::needs_worker;
        handle(request, response);
        return http::handle_step::done;
    }
};

/// Responds from the head alone.
struct bodyless_handler : named_handler {
    static constexpr bool reads_body = false;
};

http::handle_step first_step(const http::handler_ref& handler, std::string_view path, http::method method = http::method::get,
                             http::body_state body = http::body_state::complete,
                             http::thread_kind thread = http::thread_kind::io) {
    http::request request;
    request.method = method;
    request.target = http::target::from(path);
    request.body_state = body;
    http::response response;
    http::handler_state state;
    return handler.advance(request, response, state, thread);
}

bool needs_worker(const http::handler_ref& handler, std::string_view path, http::method method = http::method::get) {
    return first_step(handler, path, method) == http::handle_step::needs_worker;
}

std::string handled_by(auto& site, std::string_view path, std::string_view host = "example.com") {
    http::request request;
    request.target = http::target::from(path);
    request.fields.add("Host", host);
    http::response response;
    site.handle(request, response);
    return response.body();
}

}  // namespace

TEST_CASE("the first matching mount serves a request", "[http][site]") {
    named_handler docs{"docs"};
    named_handler api{"api"};
    named_handler rest{"rest"};
    http::site site{http::mounted("/docs", docs), http::mounted("/v1", api), http::mounted("", rest)};
    CHECK(handled_by(site, "/docs") == "docs");
    CHECK(handled_by(site, "/docs/errors/") == "docs");
    CHECK(handled_by(site, "/v1?x") == "api");
    CHECK(handled_by(site, "/v1/user/balance") == "api");
    CHECK(handled_by(site, "/v10") == "rest");
    CHECK(handled_by(site, "/Docs") == "rest");
    CHECK(handled_by(site, "*") == "rest");
}

TEST_CASE("a mount that ends in a slash is a single path", "[http][site]") {
    named_handler pages{"pages"};
    named_handler rest{"rest"};
    http::site site{http::mounted("/", pages), http::mounted("", rest)};
    CHECK(handled_by(site, "/") == "pages");
    CHECK(handled_by(site, "/?a=b") == "pages");
    CHECK(handled_by(site, "//") == "rest");
    CHECK(handled_by(site, "/a") == "rest");
    CHECK(handled_by(site, "") == "rest");
    CHECK(handled_by(site, "*") == "rest");
}

TEST_CASE("a handler may provide its mounts", "[http][site]") {
    settled_handler pages{{"pages"}};
    named_handler rest{"rest"};
    http::site site{http::mounted(pages), http::mounted("", rest)};
    CHECK(handled_by(site, "/en/user") == "pages");
    CHECK(handled_by(site, "/token/") == "pages");
    CHECK(handled_by(site, "/") == "pages");
    CHECK(handled_by(site, "/english") == "rest");
}

TEST_CASE("a refusal goes to the mount of its path", "[http][site]") {
    named_handler docs{"docs"}, api{"api"}, rest{"rest"};
    http::site site{http::mounted("/docs", docs),
                    http::mounted(http::mount_point{.host = "api.example", .prefix = "/v1"}, api), http::mounted("", rest)};
    const auto handled = [&](std::string_view path, std::string_view host, bool has_head) {
        http::request sent;
        sent.target = http::target::from(path);
        if (!host.empty()) sent.fields.add("Host", host);
        http::response response;
        site.handle(http::refusal{.reason = "no", .peer = {}, .request = has_head ? &sent : nullptr, .partial = has_head ? nullptr : &sent}, response);
        return response.body();
    };
    for (const bool has_head : {true, false}) {
        CHECK(handled("/docs/a", "", has_head) == "docs");
        CHECK(handled("/v1/a", "api.example", has_head) == "api");
        CHECK(handled("/v1/a", "", has_head) == "rest");
        CHECK(handled("/elsewhere", "", has_head) == "rest");
        CHECK(handled("", "", has_head) == "rest");
    }
}

TEST_CASE("the last mount serves unmatched requests and refusals", "[http][site]") {
    named_handler docs{"docs"};
    named_handler api{"api"};
    http::site site{http::mounted("/docs", docs), http::mounted("/v1", api)};
    CHECK(handled_by(site, "/elsewhere") == "api");
    http::response response;
    site.handle(http::refusal{http::status::bad_request, "no", {}}, response);
    CHECK(response.body() == "api");
    CHECK(response.status() == http::status::bad_request);
}

TEST_CASE("a mount may be restricted to a host", "[http][site]") {
    named_handler api{"api"};
    named_handler rest{"rest"};
    http::site site{http::mounted(http::mount_point{.host = "api.example.com", .prefix = ""}, api), http::mounted("", rest)};
    CHECK(handled_by(site, "/", "api.example.com") == "api");
    CHECK(handled_by(site, "/", "API.example.com:8443") == "api");
    CHECK(handled_by(site, "/", "api.example.com.evil") == "rest");
    CHECK(handled_by(site, "/", "[::1]") == "rest");
    CHECK(handled_by(site, "/", "[::1]:80") == "rest");
    CHECK(handled_by(site, "/", "") == "rest");
}

TEST_CASE("the host of an absolute-form target takes precedence over Host", "[http][site]") {
    named_handler api{"api"};
    named_handler rest{"rest"};
    http::site site{http::mounted(http::mount_point{.host = "api.example.com", .prefix = ""}, api), http::mounted("", rest)};
    const auto asked_for = [&](std::string_view authority, std::string_view host) {
        http::request request;
        request.target = http::target::from("/");
        request.target.authority = authority;
        request.fields.add("Host", host);
        http::response response;
        site.handle(request, response);
        return response.body();
    };
    CHECK(asked_for("api.example.com:443", "other.example.com") == "api");
    CHECK(asked_for("other.example.com", "api.example.com") == "rest");
}

TEST_CASE("a site may block if one of its handlers may", "[http][site]") {
    named_handler quick{"quick"};
    blocking_handler slow{{"slow"}};
    CHECK_FALSE(http::site{http::mounted("", quick)}.may_block());
    CHECK(http::site{http::mounted("/quick", quick), http::mounted("", slow)}.may_block());
    CHECK_THROWS_AS(http::site{std::vector<http::mount>{}}, std::invalid_argument);
    static_assert(http::handler<http::site>);
}

TEST_CASE("the handler at its mount decides whether a request needs a worker", "[http][site]") {
    named_handler quick{"quick"};
    blocking_handler slow{{"slow"}};
    half_blocking_handler pages{{{"pages"}}};
    http::site site{http::mounted("/quick", quick), http::mounted("/slow", slow), http::mounted("", pages)};
    static_assert(http::resumable_handler<decltype(site)>);
    CHECK(http::handler_ref{site}.may_block());
    CHECK_FALSE(needs_worker(site, "/quick", http::method::post));
    CHECK(needs_worker(site, "/slow"));
    CHECK_FALSE(needs_worker(site, "/pages"));
    CHECK(needs_worker(site, "/pages", http::method::post));

    http::handler_ref referenced{slow};
    http::site of_references{http::mounted("", referenced)};
    CHECK(http::handler_ref{of_references}.may_block());
    CHECK(needs_worker(of_references, "/slow"));
}

TEST_CASE("a handler that is not resumable is called once, when the request is complete", "[http][handler]") {
    using http::body_state;
    using http::handle_step;
    using http::thread_kind;
    named_handler quick{"quick"};
    blocking_handler slow{{"slow"}};
    bodyless_handler docs{{"docs"}};
    CHECK(first_step(quick, "/") == handle_step::done);
    CHECK(first_step(quick, "/", http::method::post, body_state::pending) == handle_step::needs_body);
    CHECK(first_step(quick, "/", http::method::post, body_state::too_large) == handle_step::done);
    CHECK(first_step(slow, "/") == handle_step::needs_worker);
    CHECK(first_step(slow, "/", http::method::get, body_state::complete, thread_kind::worker) == handle_step::done);
    CHECK(first_step(slow, "/", http::method::post, body_state::pending) == handle_step::needs_body);
    CHECK(first_step(docs, "/", http::method::post, body_state::pending) == handle_step::done);
    CHECK_FALSE(http::handler_ref{quick}.may_block());
    CHECK(http::handler_ref{slow}.may_block());
}

TEST_CASE("a state is created by its first get and destroyed with its request", "[http][handler]") {
    static int instances = 0;
    struct counted {
        int value;
        explicit counted(int first) noexcept : value{first} { ++instances; }
        ~counted() { --instances; }
    };
    {
        http::handler_state state;
        state.clear();
        CHECK(state.get<counted>(7).value == 7);
        state.get<counted>(8).value = 9;
        CHECK(state.get<counted>(8).value == 9);
        CHECK(instances == 1);
        state.clear();
        CHECK(instances == 0);
        CHECK(state.get<counted>(5).value == 5);
    }
    CHECK(instances == 0);
}

TEST_CASE("only listed hosts are allowed; an empty list allows all") {
    const auto allows = [](const http::allowed_hosts& hosts, std::string_view host) {
        http::request request;
        request.fields.add("Host", host);
        return hosts.allows(request);
    };
    const http::allowed_hosts hosts{{"api.example.com", "[::1]"}};
    for (const char* good : {"api.example.com", "API.example.com", "api.example.com:8443", "[::1]", "[::1]:8443"}) CHECK(allows(hosts, good));
    for (const char* bad : {"example.com", "api.example.com.", "xapi.example.com", "api.example.com.evil.example", "::1", "127.0.0.1"})
        CHECK_FALSE(allows(hosts, bad));
    CHECK(allows({}, "anything.example"));
    CHECK(allows({}, ""));
    CHECK(allows(hosts, ""));
}

TEST_CASE("the address of a connection is an allowed host of reads", "[http][site]") {
    const http::allowed_hosts hosts{{"api.example.com"}};
    struct row {
        const char* local;
        const char* host;
        http::method method;
        bool is_allowed;
    };
    constexpr auto get = http::method::get;
    for (const row& each : {row{"192.0.2.7", "192.0.2.7", get, true}, row{"192.0.2.7", "192.0.2.7:8443", http::method::head, true},
                            row{"2001:db8::7", "[2001:db8:0::7]:8443", get, true}, row{"192.0.2.7", "192.0.2.7", http::method::post, false},
                            row{"192.0.2.7", "192.0.2.8", get, false}, row{"192.0.2.7", "evil.example", get, false},
                            row{"192.0.2.7", "192.0.2.7.evil.example", get, false}, row{"::", "[::]", get, false}}) {
        CAPTURE(each.host);
        http::request request;
        request.method = each.method;
        request.local = *ip_address::parse(each.local);
        request.fields.add("Host", each.host);
        CHECK(hosts.allows(request) == each.is_allowed);
    }
}
