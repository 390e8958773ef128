#include <tollgate/server/detail/http1_session.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace tollgate;
using server_detail::http1_session;

namespace {

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";
const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string response_to_get =
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nGET /a ";

/// An http1_session with its dependencies.
struct session_fixture {
    tollgate_test::echo_handler handler;
    std::atomic<bool> stopping = false;
    server_detail::response_context context{handler, date, stopping};
    http1_session session{http::parser_settings{}};
    std::string output;

    session_fixture() { session.begin(ip_address::v4(192, 0, 2, 1), false); }

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
        const auto turn = session.serve(context, http::thread_kind::io);
        output += session.output();
        session.sent(session.output().size());
        return turn;
    }
};

}  // namespace

TEST_CASE("a session responds to its input however it is split", "[http1_session]") {
    const std::string post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    SECTION("whole") {
        session_fixture one;
        CHECK(one.session.empty());
        one.receive(get + post + get);
        CHECK(one.serve() == http1_session::state::idle);
        CHECK(one.session.responses() == 3);
        CHECK(one.output.find(response_to_get) == 0);
        CHECK(one.output.find("POST /b hi") != std::string::npos);
        CHECK(one.session.empty());
    }
    SECTION("byte by byte") {
        session_fixture one;
        for (const char c : get + post) {
            one.receive({&c, 1});
            (void)one.serve();
        }
        CHECK(one.session.responses() == 2);
        CHECK(one.session.empty());
    }
    SECTION("in pieces") {
        session_fixture one;
        one.receive(get + post.substr(0, 10));
        CHECK(one.serve() == http1_session::state::in_head);
        CHECK(one.output == response_to_get);
        CHECK_FALSE(one.session.empty());
        one.receive(post.substr(10, post.size() - 11));
        CHECK(one.serve() == http1_session::state::in_body);
        one.receive(post.substr(post.size() - 1));
        CHECK(one.serve() == http1_session::state::idle);
    }
}

TEST_CASE("a session ends when the request, its bytes or the server require it", "[http1_session]") {
    session_fixture one;
    SECTION("the request") {
        one.receive("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        CHECK(one.serve() == http1_session::state::closing);
        CHECK_FALSE(one.session.needs_linger());
    }
    SECTION("the request, with trailing data") {
        one.receive("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + get);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.session.needs_linger());
    }
    SECTION("malformed bytes") {
        one.receive("nonsense\r\n\r\n" + get);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.output.find("HTTP/1.1 400 ") == 0);
        CHECK(one.session.needs_linger());
        CHECK(one.handler.refusals == 1);
    }
    SECTION("a body over the bound") {
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
    SECTION("the server, before the client can know") {
        one.stopping = true;
        one.receive(get);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.session.needs_linger());
    }
    SECTION("the host") {
        one.receive("GET / HT");
        one.session.refuse(http::status::service_unavailable, "Busy.", one.context);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.output.find("\r\nRetry-After: 2\r\n") != std::string::npos);
    }
    CHECK(one.output.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(one.session.closing());
    CHECK(one.serve() == http1_session::state::closing);
}

TEST_CASE("a refusal has the request if its head arrived", "[http1_session]") {
    const std::string post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhi";
    SECTION("malformed: a chunk, but not a head") {
        struct row {
            std::string bytes;
            std::string_view path;
        };
        const std::string chunked = "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nX\r\n";
        for (const auto& [bytes, path] : {row{chunked, "/b"}, row{get + chunked, "/b"}, row{"POST /b HTTP/1.1\r\na b: c\r\n", ""}}) {
            CAPTURE(bytes);
            session_fixture one;
            for (const char byte : bytes) {
                one.receive({&byte, 1});
                (void)one.serve();
            }
            CHECK(one.session.closing());
            CHECK(one.handler.refused == path);
            session_fixture whole;
            whole.receive(bytes);
            (void)whole.serve();
            CHECK(whole.session.closing());
            CHECK(whole.handler.refused == path);
        }
    }
    SECTION("refused by the host: within a body, but not within a head or between messages") {
        struct row {
            std::string_view bytes, path;
        };
        for (const auto& [bytes, path] : {row{post, "/b"}, row{std::string_view{post}.substr(0, 20), ""}, row{get, ""}}) {
            CAPTURE(bytes);
            session_fixture one;
            one.receive(bytes);
            (void)one.serve();
            one.session.refuse(http::status::request_timeout, "Too slow.", one.context);
            CHECK(one.handler.refused == path);
        }
    }
    SECTION("after the message moved in its buffer") {
        session_fixture one;
        std::string gets;
        while (gets.size() < 8000) gets += get;
        one.receive(gets + post);
        (void)one.serve();
        std::ranges::fill(one.session.input_space(), 'x');  // this moved it
        one.session.refuse(http::status::request_timeout, "Too slow.", one.context);
        CHECK(one.handler.refused == "/b");
    }
}

TEST_CASE("a refusal has what was read of the head", "[http1_session]") {
    struct row {
        std::string bytes;
        std::string_view path, origin;
    };
    const std::string begin = "GET /en/a?b HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n";
    const std::string slashes(limits::target_bytes_max, '/'), bytes(limits::target_bytes_max, 'a');
    for (const auto& [sent, path, origin] :
         {row{begin + "a b: c\r\n", "/en/a", "https://a.example"}, row{begin + "Long: " + std::string(20'000, 'x'), "/en/a", "https://a.example"},
          row{"GET /en/a?" + bytes, "/en/a", ""}, row{"GET /en" + slashes, std::string_view{slashes}.substr(1), ""},
          row{"GET /en/a?\"b HTTP/1.1\r\n", "/en/a", ""}, row{"GET /en/a#b HTTP/1.1\r\n", "/en/a", ""}, row{"GET /en/a\r\n", "/en/a", ""},
          row{"GET /en/a HTTP/1.7.\r\n", "/en/a", ""}, row{"GET /en/a HTTP/1.1\r\n\r\n", "/en/a", ""},
          row{"GET en/a HTTP/1.1\r\n", "", ""}, row{"nonsense\r\n\r\n", "", ""}, row{"CONNECT /en/a HTTP/1.1\r\n", "", ""}}) {
        CAPTURE(sent.substr(0, 60));
        for (const auto& before : {std::string{}, get}) {
            session_fixture whole;
            whole.receive(before + sent);
            (void)whole.serve();
            REQUIRE(whole.session.closing());
            CHECK(whole.handler.refused.empty());
            if (sent.find(slashes) == std::string::npos) CHECK(whole.handler.refused_part == path);
            else CHECK(whole.handler.refused_part.starts_with("/en/////"));
            CHECK(whole.handler.refused_origin == origin);
            session_fixture pieces;
            for (const char byte : before + sent) {
                pieces.receive({&byte, 1});
                if (pieces.serve() == http1_session::state::closing) break;
            }
            CHECK(pieces.handler.refused_part == whole.handler.refused_part);
            CHECK(pieces.handler.refused_origin == origin);
        }
    }
    // Too slow: refused by the host, after the message moved in its buffer.
    session_fixture slow;
    std::string gets;
    while (gets.size() < 8000) gets += get;
    slow.receive(gets + begin);
    (void)slow.serve();
    std::ranges::fill(slow.session.input_space(), 'x');
    slow.session.refuse(http::status::request_timeout, "Too slow.", slow.context);
    CHECK(slow.handler.refused_part == "/en/a");
    CHECK(slow.handler.refused_origin == "https://a.example");
    session_fixture idle;
    idle.receive(get);
    (void)idle.serve();
    idle.session.refuse(http::status::service_unavailable, "Full.", idle.context);
    CHECK(idle.handler.refused_part.empty());
}

TEST_CASE("the response to a HEAD request that is refused has no body", "[http1_session]") {
    const std::string head = "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n";
    struct row {
        std::string bytes;
        bool has_body;
    };
    for (const auto& [bytes, has_body] :
         {row{"HEAD / HTTP/1.1\r\n\r\n", false}, row{"HEAD  / HTTP/1.1\r\nHost: x\r\n\r\n", false},
          row{"HEAD / HTTP/1.1\r\nHost: x\r\na b: c\r\n\r\n", false}, row{get + "HEAD / HTTP/3.0\r\n\r\n", false},
          row{"GET / HTTP/1.1\r\n\r\n", true}, row{head + "GET / HTTP/1.1\r\n\r\n", true}, row{head + "\rX", true},
          row{"HEADS / HTTP/1.1\r\n\r\n", true}}) {
        for (const bool whole : {true, false}) {
            CAPTURE(bytes, whole);
            session_fixture one;
            for (std::size_t at = 0; at < bytes.size();) {
                const std::size_t step = whole ? bytes.size() : 1;
                one.receive(bytes.substr(at, step));
                at += step;
                (void)one.serve();
            }
            CHECK(one.session.closing());
            CHECK(one.handler.refusals == 1);
            const auto last = one.output.rfind("\r\nConnection: close\r\n");
            REQUIRE(last != std::string::npos);
            CHECK(one.output.find("\r\nContent-Length: 7\r\n", one.output.rfind("HTTP/1.1 ")) != std::string::npos);
            CHECK(one.output.ends_with("\r\n\r\nrefused") == has_body);
            CHECK(one.output.ends_with("\r\n\r\n") == !has_body);
        }
    }
    SECTION("but not because of the request before, or of the last connection") {
        session_fixture one;
        one.receive(head.substr(0, head.size() - 2));
        CHECK(one.serve() == http1_session::state::in_head);
        one.session.begin(ip_address::v4(192, 0, 2, 1), false);
        one.session.refuse(http::status::service_unavailable, "Busy.", one.context);
        CHECK(one.session.output().size() > 7);
        CHECK(std::string{one.session.output()}.ends_with("refused"));
    }
    SECTION("a request that the host refuses") {
        session_fixture one;
        one.receive(head.substr(0, 10));
        CHECK(one.serve() == http1_session::state::in_head);
        one.session.refuse(http::status::request_timeout, "Too slow.", one.context);
        CHECK(one.serve() == http1_session::state::closing);
        CHECK(one.output.ends_with("\r\n\r\n"));
    }
}

TEST_CASE("a session stops handling requests while its output is not sent", "[http1_session]") {
    session_fixture one;
    one.receive("GET /large HTTP/1.1\r\nHost: x\r\n\r\n" + get);
    CHECK(one.session.serve(one.context, http::thread_kind::io) == http1_session::state::output_full);
    CHECK(one.session.responses() == 1);
    one.session.sent(one.session.output().size() - 1);
    CHECK(one.serve() == http1_session::state::idle);
    CHECK(one.session.responses() == 2);
}

TEST_CASE("a session starts without state of its last connection", "[http1_session]") {
    struct connection {
        std::string_view name;
        std::string bytes;
        bool takes_output = true;
    };
    const connection left[] = {
        {"nothing", ""},
        {"a request with its response", get},
        {"part of a head", get.substr(0, get.size() - 3)},
        {"an empty line before a head", "\r\n"},
        {"part of a body", "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhi"},
        {"part of a chunked body", "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi"},
        {"a malformed request", "GET\r\n\r\n" + get},
        {"a last request", "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + get},
        {"a response that was not sent", get, false},
        {"a refusal that was not sent", "GET\r\n\r\n", false},
    };
    for (const auto& [name, bytes, takes_output] : left) {
        INFO(name);
        session_fixture one;
        one.receive(bytes);
        static_cast<void>(takes_output ? one.serve() : one.session.serve(one.context, http::thread_kind::io));
        one.output.clear();
        one.session.shrink();
        one.session.begin(ip_address::v4(192, 0, 2, 2), false);
        CHECK(one.session.empty());
        CHECK(one.session.responses() == 0);
        CHECK_FALSE(one.session.needs_linger());
        one.receive(get);
        CHECK(one.serve() == http1_session::state::idle);
        CHECK(one.output == response_to_get);
        CHECK(one.session.responses() == 1);
    }
}

TEST_CASE("the handler's state ends when the session returns to its pool", "[http1_session]") {
    struct state_of_request {
        std::shared_ptr<int> held;
    };
    struct waiting_handler : tollgate_test::advancing_handler {
        std::shared_ptr<int> shared = std::make_shared<int>();
        http::handle_step advance(const http::request&, http::response&, http::handler_state& state, http::thread_kind) noexcept {
            state.get<state_of_request>().held = shared;
            return http::handle_step::needs_body;
        }
    } handler;
    session_fixture fixture;
    const server_detail::response_context context{handler, date, fixture.stopping};
    fixture.receive("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhi");
    CHECK(fixture.session.serve(context, http::thread_kind::io) == http1_session::state::in_body);
    CHECK(handler.shared.use_count() == 2);
    fixture.session.shrink();
    CHECK(handler.shared.use_count() == 1);
}

TEST_CASE("a session has capacity for the longest message and one more read, and releases it afterwards", "[http1_session]") {
    session_fixture one;
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

/// Needs a worker for a POST.
struct post_blocks : tollgate_test::echo_handler {
    static constexpr bool blocking = true;
    int on_io_thread = 0, on_worker = 0;

    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state&,
                                            http::thread_kind thread) noexcept {
        if (request.body_state == http::body_state::pending) return http::handle_step::needs_body;
        if (request.method == http::method::post && thread == http::thread_kind::io) return http::handle_step::needs_worker;
        ++(thread == http::thread_kind::io ? on_io_thread : on_worker);
        handle(request, response);
        return http::handle_step::done;
    }
};

}  // namespace

TEST_CASE("a session stops at a request that needs a worker, and continues there with everything it has received", "[http1_session]") {
    post_blocks handler;
    const std::atomic<bool> stopping = false;
    const server_detail::response_context context{handler, date, stopping};
    http1_session session{http::parser_settings{}};
    session.begin(ip_address::v4(192, 0, 2, 1), false);
    const std::string input = get + "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" + get;
    std::memcpy(session.input_space().data(), input.data(), input.size());
    session.received(input.size());

    CHECK(session.serve(context, http::thread_kind::io) == http1_session::state::needs_worker);
    CHECK(session.responses() == 1);
    CHECK(session.serve(context, http::thread_kind::io) == http1_session::state::needs_worker);
    CHECK(session.responses() == 1);
    CHECK(session.serve(context, http::thread_kind::worker) == http1_session::state::idle);
    CHECK(session.responses() == 3);
    CHECK(handler.on_io_thread == 2);  // the last one too: it does not need to block
    CHECK(handler.on_worker == 1);
}

namespace {

/// Decides in steps, by the path: `/refused` is refused from the head, `/asks` needs a worker for that, `/worker` needs one for its
/// response; `/wrong-body` and `/wrong-worker` request what they already have. All others are echoed with their body.
struct stepping_handler : tollgate_test::echo_handler {
    static constexpr bool blocking = true;
    struct progress {
        stepping_handler& handler;
        int calls = 0;
        explicit progress(stepping_handler& owner) noexcept : handler{owner} { ++handler.states; }
        ~progress() { --handler.states; }
    };
    int states = 0;
    std::string steps;  // the calls: h with a head, b with a complete body, l with one that is too large; upper case: on a worker

    [[nodiscard]] http::handle_step advance(const http::request& request, http::response& response, http::handler_state& state,
                                            http::thread_kind thread) noexcept {
        using http::handle_step;
        auto& current = state.get<progress>(*this);
        const char step = request.body_state == http::body_state::pending ? 'h' : request.body_state == http::body_state::complete ? 'b' : 'l';
        steps += thread == http::thread_kind::io ? step : static_cast<char>(step - 'a' + 'A');
        ++current.calls;
        const auto path = request.target.path;
        if (path == "/wrong-body" && step != 'h') return handle_step::needs_body;
        if (path == "/wrong-worker") return handle_step::needs_worker;
        if (path == "/asks" && thread == http::thread_kind::io) return handle_step::needs_worker;
        if (path == "/refused" || path == "/asks") {
            response.set_status(http::status::unauthorized);
            return handle_step::done;
        }
        if (step == 'h') return handle_step::needs_body;
        if (path == "/worker" && thread == http::thread_kind::io) return handle_step::needs_worker;
        handle(request, response);
        return handle_step::done;
    }
};

struct stepping_conversation {
    stepping_handler handler;
    std::atomic<bool> stopping = false;
    server_detail::response_context context{handler, date, stopping};
    http1_session session{http::parser_settings{}};
    std::string output;
    http1_session::state last = http1_session::state::idle;

    stepping_conversation() { session.begin(ip_address::v4(192, 0, 2, 1), false); }

    /// Does what a server does: a request that needs a worker gets one.
    void receive(std::string_view bytes) {
        do {
            const auto space = session.input_space();
            const std::size_t size = (std::min)(space.size(), bytes.size());
            REQUIRE((size > 0 || bytes.empty()));
            std::memcpy(space.data(), bytes.data(), size);
            bytes.remove_prefix(size);
            session.received(size);
            last = session.serve(context, http::thread_kind::io);
            if (last == http1_session::state::needs_worker) last = session.serve(context, http::thread_kind::worker);
            output += session.output();
            session.sent(session.output().size());
        } while (!bytes.empty());
    }
    void receive_bytewise(std::string_view bytes) {
        for (const char& c : bytes) receive({&c, 1});
    }
    [[nodiscard]] bool holds(std::string_view text) const { return output.find(text) != std::string::npos; }
};

const std::string five = " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n";
const std::string five_if_continued = " HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
const std::string chunked = " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

}  // namespace

TEST_CASE("a request rejected by its head gets its response before its body arrives", "[http1_session]") {
    const bool bytewise = GENERATE(false, true);
    const std::string path = GENERATE("/refused", "/asks");
    const std::string calls = path == "/refused" ? "h" : "hH";
    stepping_conversation one;
    const auto receive = [&](std::string_view bytes) { bytewise ? one.receive_bytewise(bytes) : one.receive(bytes); };

    SECTION("a body of known length is discarded as it arrives, and the connection continues") {
        receive("POST " + path + five);
        CHECK(one.output.starts_with("HTTP/1.1 401 "));
        CHECK_FALSE(one.holds("Connection: close"));
        CHECK(one.last == http1_session::state::in_body);
        CHECK_FALSE(one.session.empty());
        CHECK(one.handler.steps == calls);
        one.output.clear();
        receive("GET /");  // five bytes of a body, which are not a request
        CHECK(one.output.empty());
        CHECK(one.last == http1_session::state::idle);
        CHECK(one.session.empty());
        receive(get);
        CHECK(one.output == response_to_get);
    }
    SECTION("with Expect: 100-continue no interim response is sent and the connection ends, because the body may or may not come") {
        receive("POST " + path + five_if_continued);
        CHECK(one.output.starts_with("HTTP/1.1 401 "));
        CHECK(one.holds("Connection: close"));
        CHECK(one.last == http1_session::state::closing);
        CHECK(one.session.needs_linger());
        CHECK(one.handler.steps == calls);
    }
    SECTION("a chunked body has no known end, so the connection ends") {
        receive("POST " + path + chunked);
        CHECK(one.output.starts_with("HTTP/1.1 401 "));
        CHECK(one.holds("Connection: close"));
        CHECK(one.session.needs_linger());
        receive(get);
        CHECK(one.session.responses() == 1);
    }
    SECTION("after a body timeout the connection is closed without a second response") {
        receive("POST " + path + five + "hel");
        one.output.clear();
        one.session.refuse(http::status::request_timeout, "Too slow.", one.context);
        CHECK(one.session.output().empty());
        CHECK(one.session.closing());
        CHECK(one.session.needs_linger());
    }
    CHECK(one.handler.states == 0);
}

TEST_CASE("a body that came with a rejected head is skipped, not parsed as a request", "[http1_session]") {
    stepping_conversation one;
    one.receive("POST /refused" + five + "GET /" + get);
    CHECK(one.handler.steps == "bb");
    CHECK(one.session.responses() == 2);
    CHECK(one.output.ends_with(response_to_get));
    one.receive("POST /refused" + five + "GE");
    one.receive("T /" + get);
    CHECK(one.handler.steps == "bbhb");
    CHECK(one.session.responses() == 4);
    CHECK(one.session.empty());
}

TEST_CASE("the rest of a refused body is skipped up to a bound, beyond which the connection is closed", "[http1_session]") {
    struct row {
        std::size_t missing;
        bool stays_open;
    };
    for (const auto& [missing, stays_open] : {row{1, true}, {16 * 1024, true}, {16 * 1024 + 1, false}, {60 * 1024, false}}) {
        CAPTURE(missing);
        stepping_conversation one;
        const std::string arrived(100, 'b');
        one.receive("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(arrived.size() + missing) + "\r\n\r\n" +
                    arrived);
        CHECK(one.handler.steps == "h");
        CHECK(one.session.responses() == 1);
        CHECK(one.holds("Connection: close") != stays_open);
        CHECK(one.session.closing() != stays_open);
        CHECK(one.session.needs_linger() != stays_open);
        CHECK_FALSE(one.session.has_only_empty_line());
        if (!stays_open) continue;
        one.receive(std::string(missing, 'b') + get);
        CHECK(one.output.ends_with(response_to_get));
        CHECK(one.session.empty());
    }
}

TEST_CASE("a request not rejected by its head gets 100 Continue and is handled when its body is complete", "[http1_session]") {
    const bool bytewise = GENERATE(false, true);
    stepping_conversation one;
    const auto receive = [&](std::string_view bytes) { bytewise ? one.receive_bytewise(bytes) : one.receive(bytes); };

    SECTION("on the I/O thread") {
        receive("POST /b" + five_if_continued);
        CHECK(one.output == "HTTP/1.1 100 Continue\r\n\r\n");
        CHECK(one.last == http1_session::state::in_body);
        CHECK(one.handler.states == 1);
        receive("hello");
        CHECK(one.holds("POST /b hello"));
        CHECK(one.handler.steps == "hb");
    }
    SECTION("on a worker") {
        receive("POST /worker" + five + "hel");
        receive("lo");
        CHECK(one.holds("POST /worker hello"));
        CHECK(one.handler.steps == "hbB");
    }
    SECTION("chunked, then too large") {
        receive("POST /b" + chunked);
        CHECK(one.handler.states == 1);
        receive("FFFFFF\r\n");
        CHECK(one.output.starts_with("HTTP/1.1 413 "));
        CHECK(one.handler.steps == "hl");
    }
    SECTION("when the connection ends early, the handler's state is destroyed") {
        receive("POST /b" + five + "hel");
        CHECK(one.handler.states == 1);
        one.session.refuse(http::status::request_timeout, "Too slow.", one.context);
        CHECK(one.session.output().starts_with("HTTP/1.1 408 "));
    }
    CHECK(one.handler.states == 0);
}

TEST_CASE("a handler that requests a step that is already done results in a 500", "[http1_session]") {
    stepping_conversation one;
    one.receive("GET /wrong-body HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(one.output.starts_with("HTTP/1.1 500 "));
    one.output.clear();
    one.receive("GET /wrong-worker HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(one.output.starts_with("HTTP/1.1 500 "));
    CHECK(one.handler.steps == "bbB");
    CHECK(one.handler.states == 0);
}

TEST_CASE("a session handles everything received on a worker", "[http1_session]") {
    post_blocks handler;
    const std::atomic<bool> stopping = false;
    const server_detail::response_context context{handler, date, stopping};
    http1_session session{http::parser_settings{}};
    session.begin(ip_address::v4(192, 0, 2, 1), false);
    const std::string post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    const std::string input = post + get + post;
    std::memcpy(session.input_space().data(), input.data(), input.size());
    session.received(input.size());
    CHECK(session.serve(context, http::thread_kind::io) == http1_session::state::needs_worker);
    // Another request may need another kind of work: it reports this before it blocks.
    CHECK(session.serve(context, http::thread_kind::worker) == http1_session::state::needs_worker);
    CHECK(session.responses() == 2);
    CHECK(session.serve(context, http::thread_kind::worker) == http1_session::state::idle);
    CHECK(session.responses() == 3);
}

namespace {

/// Requires bodies of at most 4 bytes.
struct small_body_handler {
    void handle(const http::request& request, http::response& response) noexcept {
        response.set_status(request.body_state == http::body_state::too_large ? http::status::content_too_large : http::status::ok);
    }
    void handle(const http::refusal& why, http::response& response) noexcept { response.set_status(why.status); }
    http::handle_step advance(const http::request& request, http::response& response, http::handler_state& state,
                              http::thread_kind) noexcept {
        if (request.body_state == http::body_state::pending) {
            state.set_body_bytes_max(4);
            return http::handle_step::needs_body;
        }
        handle(request, response);
        return http::handle_step::done;
    }
};

}  // namespace

TEST_CASE("a chunked body beyond the handler's bound is refused before it is buffered", "[http1_session]") {
    small_body_handler handler;
    std::atomic<bool> stopping = false;
    const server_detail::response_context context{handler, date, stopping};
    const std::string head = "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    struct {
        std::string body;
        const char* status;
        bool closes;
    } const rows[] = {
        {"4\r\nabcd\r\n0\r\n\r\n", "HTTP/1.1 200 ", false},
        {"5\r\n", "HTTP/1.1 413 ", true},  // its bytes are not read
        {"4\r\nabcd\r\n1\r\n", "HTTP/1.1 413 ", true},
        {"4\r\nabcd\r\n4\r\nabcd\r\n", "HTTP/1.1 413 ", true},
        {"FF\r\nabc", "HTTP/1.1 413 ", true},
    };
    for (const auto& row : rows)
        for (const bool whole : {false, true}) {
            CAPTURE(row.body, whole);
            http1_session session{http::parser_settings{}};
            session.begin(ip_address::v4(192, 0, 2, 1), false);
            const std::string bytes = head + row.body;
            const std::size_t step = whole ? bytes.size() : 1;
            for (std::size_t at = 0; at < bytes.size(); at += step) {
                std::memcpy(session.input_space().data(), bytes.data() + at, step);
                session.received(step);
                (void)session.serve(context, http::thread_kind::io);
            }
            CHECK(std::string{session.output()}.find(row.status) == 0);
            CHECK(session.closing() == row.closes);
        }
}

namespace {

/// Tells each time that it was read, and counts.
struct counting_clock {
    mutable int reads = 0;
    [[nodiscard]] instant now() const noexcept { return from_unix_seconds(++reads); }
    [[nodiscard]] const void* target() const noexcept { return this; }
};

/// Responds with the time by its clock, `/other` by another one; `/worker` on a worker.
struct time_handler : tollgate_test::advancing_handler {
    counting_clock clock, other;

    http::handle_step advance(const http::request& request, http::response& response, http::handler_state& state,
                              http::thread_kind thread) noexcept {
        if (request.target.path == "/worker" && thread == http::thread_kind::io) {
            state.set_waits_for(http::work_kind::store_reads);
            return http::handle_step::needs_worker;
        }
        const instant now = state.time_by(request.target.path == "/other" ? other : clock);
        response.body() = "<" + std::to_string(to_unix_milliseconds(now) / 1000) + ">";
        return http::handle_step::done;
    }
};

}  // namespace

TEST_CASE("requests that are handled in one pass have one time, unless they may have waited", "[http1_session]") {
    const auto request = [](std::string_view path) { return "GET " + std::string{path} + " HTTP/1.1\r\nHost: x\r\n\r\n"; };
    struct {
        std::vector<std::string> passes;
        http::thread_kind thread;
        std::string times;
    } const rows[] = {
        {{request("/a") + request("/b") + request("/c")}, http::thread_kind::io, "<1><1><1>"},
        {{request("/a"), request("/b") + request("/c")}, http::thread_kind::io, "<1><2><2>"},
        {{request("/a") + request("/other") + request("/other") + request("/b")}, http::thread_kind::io, "<1><1><1><2>"},
        {{request("/a") + request("/b") + request("/c")}, http::thread_kind::worker, "<1><2><3>"},
        {{request("/a") + request("/worker") + request("/b"), ""}, http::thread_kind::io, "<1><2><3>"},
    };
    for (const auto& row : rows) {
        time_handler handler;
        std::atomic<bool> stopping = false;
        const server_detail::response_context context{handler, date, stopping};
        http1_session session{http::parser_settings{}};
        session.begin(ip_address::v4(192, 0, 2, 1), false);
        std::string times;
        for (const std::string& bytes : row.passes) {
            std::memcpy(session.input_space().data(), bytes.data(), bytes.size());
            session.received(bytes.size());
            if (session.serve(context, row.thread) == http1_session::state::needs_worker) (void)session.serve(context, http::thread_kind::worker);
            for (std::string_view left = session.output(); !left.empty(); left.remove_prefix(1)) {
                const auto begin = left.find('<');
                if (begin == std::string_view::npos) break;
                const auto end = left.find('>', begin);
                times += left.substr(begin, end - begin + 1);
                left.remove_prefix(end);
            }
            session.sent(session.output().size());
        }
        CHECK(times == row.times);
    }
}
