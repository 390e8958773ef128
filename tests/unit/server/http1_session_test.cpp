#include <tollgate/server/detail/http1_session.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <string_view>

using namespace tollgate;
using server_detail::http1_session;

namespace {

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";
const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string answer_to_get =
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nGET /a ";

/// An http1_session with everything it needs.
struct conversation {
    tollgate_test::echo_handler handler;
    std::atomic<bool> stopping = false;
    server_detail::response_context with{handler, date, stopping};
    http1_session session{http::parser_settings{}};
    std::string output;

    conversation() { session.begin(ip_address::v4(192, 0, 2, 1), false); }

    void receive(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto space = session.input_space();
            REQUIRE_FALSE(space.empty());
            const std::size_t count = (std::min)(space.size(), bytes.size());
            std::memcpy(space.data(), bytes.data(), count);
            session.received(count);
            bytes.remove_prefix(count);
        }
    }

    http1_session::state serve() {
        const auto turn = session.serve(with, http1_session::blocking::forbidden);
        output += session.output();
        session.sent(session.output().size());
        return turn;
    }
};

}  // namespace

TEST_CASE("an http1_session answers what came, however it came", "[http1_session]") {
    const std::string post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    SECTION("whole") {
        conversation one;
        CHECK(one.session.empty());
        one.receive(get + post + get);
        CHECK(one.serve() == http1_session::state::idle);
        CHECK(one.session.responses() == 3);
        CHECK(one.output.find(answer_to_get) == 0);
        CHECK(one.output.find("POST /b hi") != std::string::npos);
        CHECK(one.session.empty());
    }
    SECTION("byte by byte") {
        conversation one;
        for (const char c : get + post) {
            one.receive({&c, 1});
            (void)one.serve();
        }
        CHECK(one.session.responses() == 2);
        CHECK(one.session.empty());
    }
    SECTION("in part") {
        conversation one;
        one.receive(get + post.substr(0, 10));
        CHECK(one.serve() == http1_session::state::in_head);
        CHECK(one.output == answer_to_get);
        CHECK_FALSE(one.session.empty());
        one.receive(post.substr(10, post.size() - 11));
        CHECK(one.serve() == http1_session::state::in_body);
        one.receive(post.substr(post.size() - 1));
        CHECK(one.serve() == http1_session::state::idle);
    }
}

TEST_CASE("an http1_session ends when the request, its bytes or the server say so", "[http1_session]") {
    conversation one;
    SECTION("the request") {
        one.receive("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        CHECK(one.serve() == http1_session::state::closing);
        CHECK_FALSE(one.session.needs_linger());
    }
    SECTION("the request, with more behind it") {
        one.receive("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + get);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.session.needs_linger());
    }
    SECTION("its bytes") {
        one.receive("nonsense\r\n\r\n" + get);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.output.find("HTTP/1.1 400 ") == 0);
        CHECK(one.session.needs_linger());
        CHECK(one.handler.refusals == 1);
    }
    SECTION("a body that is too large") {
        one.receive("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.output.find("HTTP/1.1 413 ") == 0);
        CHECK(one.session.needs_linger());
    }
    SECTION("the server") {
        one.stopping = true;
        one.receive(get + get);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.session.responses() == 1);
    }
    SECTION("the server, before the client can have known") {
        one.stopping = true;
        one.receive(get);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.session.needs_linger());
    }
    SECTION("the host") {
        one.receive("GET / HT");
        one.session.refuse(http::status::service_unavailable, "Busy.", one.with);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.output.find("\r\nRetry-After: 1\r\n") != std::string::npos);
    }
    CHECK(one.output.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(one.session.closing());
    CHECK(one.serve() == http1_session::state::closing);
}

TEST_CASE("an http1_session holds its requests back while its answers are not taken", "[http1_session]") {
    conversation one;
    one.receive("GET /large HTTP/1.1\r\nHost: x\r\n\r\n" + get);
    CHECK(one.session.serve(one.with, http1_session::blocking::forbidden) == http1_session::state::output_full);
    CHECK(one.session.responses() == 1);
    one.session.sent(one.session.output().size() - 1);
    CHECK(one.serve() == http1_session::state::idle);
    CHECK(one.session.responses() == 2);
}

TEST_CASE("an http1_session has capacity for the longest message and one more reading, and forgets it afterwards", "[http1_session]") {
    conversation one;
    const std::string body(64 * 1024, 'b');
    one.receive("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n" + body + get);
    CHECK(one.serve() == http1_session::state::output_full);
    CHECK(one.serve() == http1_session::state::idle);
    CHECK(one.output.find(body) != std::string::npos);
    CHECK(one.output.find("GET /a ") != std::string::npos);
    one.session.shrink();
    one.session.begin(ip_address::v4(192, 0, 2, 2), true);
    CHECK(one.session.input_space().size() == 8 * 1024);
}

namespace {

/// Waits for those who post, and remembers who was followed by another.
struct post_blocks : tollgate_test::echo_handler {
    static constexpr bool blocking = true;
    mutable std::string followed;
    [[nodiscard]] bool may_block(const http::request& asked) const noexcept {
        followed += asked.is_followed ? 'y' : 'n';
        return asked.method == http::method::post;
    }
};

}  // namespace

TEST_CASE("an http1_session stops before a request that may block, where nobody may wait", "[http1_session]") {
    post_blocks handler;
    const std::atomic<bool> stopping = false;
    const server_detail::response_context with{handler, date, stopping};
    http1_session session{http::parser_settings{}};
    session.begin(ip_address::v4(192, 0, 2, 1), false);
    const std::string sent = get + "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" + get;
    std::memcpy(session.input_space().data(), sent.data(), sent.size());
    session.received(sent.size());

    CHECK(session.serve(with, http1_session::blocking::forbidden) == http1_session::state::request_ready);
    CHECK(session.responses() == 1);
    CHECK(session.serve(with, http1_session::blocking::forbidden) == http1_session::state::request_ready);
    CHECK(session.responses() == 1);
    session.respond(with);
    CHECK(session.responses() == 2);
    CHECK(session.serve(with, http1_session::blocking::forbidden) == http1_session::state::idle);
    CHECK(session.responses() == 3);
    CHECK(handler.followed == "yyyn");
}

TEST_CASE("an http1_session goes on with all of it, where somebody may wait", "[http1_session]") {
    post_blocks handler;
    const std::atomic<bool> stopping = false;
    const server_detail::response_context with{handler, date, stopping};
    http1_session session{http::parser_settings{}};
    session.begin(ip_address::v4(192, 0, 2, 1), false);
    const std::string sent = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" + get;
    std::memcpy(session.input_space().data(), sent.data(), sent.size());
    session.received(sent.size());
    CHECK(session.serve(with, http1_session::blocking::allowed) == http1_session::state::idle);
    CHECK(session.responses() == 2);
}
