#include <tollgate/server/detail/exchange.hpp>

#include <catch2/catch.hpp>
#include <support/echo_handler.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <string_view>

using namespace tollgate;
using server_detail::exchange;

namespace {

constexpr std::string_view date = "Sun, 06 Nov 1994 08:49:37 GMT";
const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string answer_to_get =
    "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nGET /a ";

/// An exchange with everything it needs.
struct conversation {
    tollgate_test::echo_handler handler;
    std::atomic<bool> stopping = false;
    server_detail::answering with{handler, date, stopping};
    exchange talk{http::parser_settings{}};
    std::string output;

    conversation() { talk.begin(ip_address::v4(192, 0, 2, 1), false); }

    void receive(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto room = talk.room();
            REQUIRE_FALSE(room.empty());
            const std::size_t count = (std::min)(room.size(), bytes.size());
            std::memcpy(room.data(), bytes.data(), count);
            talk.received(count);
            bytes.remove_prefix(count);
        }
    }

    exchange::turn serve() {
        const auto turn = talk.serve(with, exchange::waiting::forbidden);
        output += talk.output();
        talk.sent(talk.output().size());
        return turn;
    }
};

}  // namespace

TEST_CASE("an exchange answers what came, however it came", "[exchange]") {
    const std::string post = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
    SECTION("whole") {
        conversation one;
        CHECK(one.talk.blank());
        one.receive(get + post + get);
        CHECK(one.serve() == exchange::turn::idle);
        CHECK(one.talk.answered() == 3);
        CHECK(one.output.find(answer_to_get) == 0);
        CHECK(one.output.find("POST /b hi") != std::string::npos);
        CHECK(one.talk.blank());
    }
    SECTION("byte by byte") {
        conversation one;
        for (const char c : get + post) {
            one.receive({&c, 1});
            (void)one.serve();
        }
        CHECK(one.talk.answered() == 2);
        CHECK(one.talk.blank());
    }
    SECTION("in part") {
        conversation one;
        one.receive(get + post.substr(0, 10));
        CHECK(one.serve() == exchange::turn::in_head);
        CHECK(one.output == answer_to_get);
        CHECK_FALSE(one.talk.blank());
        one.receive(post.substr(10, post.size() - 11));
        CHECK(one.serve() == exchange::turn::in_body);
        one.receive(post.substr(post.size() - 1));
        CHECK(one.serve() == exchange::turn::idle);
    }
}

TEST_CASE("an exchange ends when the request, its bytes or the server say so", "[exchange]") {
    conversation one;
    SECTION("the request") {
        one.receive("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        CHECK(one.serve() == exchange::turn::over);
        CHECK_FALSE(one.talk.lingers());
    }
    SECTION("the request, with more behind it") {
        one.receive("GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + get);
        CHECK(one.serve() == exchange::turn::over);
        CHECK(one.talk.lingers());
    }
    SECTION("its bytes") {
        one.receive("nonsense\r\n\r\n" + get);
        CHECK(one.serve() == exchange::turn::over);
        CHECK(one.output.find("HTTP/1.1 400 ") == 0);
        CHECK(one.talk.lingers());
        CHECK(one.handler.refusals == 1);
    }
    SECTION("a body that is too large") {
        one.receive("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n");
        CHECK(one.serve() == exchange::turn::over);
        CHECK(one.output.find("HTTP/1.1 413 ") == 0);
        CHECK(one.talk.lingers());
    }
    SECTION("the server") {
        one.stopping = true;
        one.receive(get + get);
        CHECK(one.serve() == exchange::turn::over);
        CHECK(one.talk.answered() == 1);
    }
    SECTION("the server, before the client can have known") {
        one.stopping = true;
        one.receive(get);
        CHECK(one.serve() == exchange::turn::over);
        CHECK(one.talk.lingers());
    }
    SECTION("the host") {
        one.receive("GET / HT");
        one.talk.refuse(http::status::service_unavailable, "Busy.", one.with);
        CHECK(one.serve() == exchange::turn::over);
        CHECK(one.output.find("\r\nRetry-After: 1\r\n") != std::string::npos);
    }
    CHECK(one.output.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(one.talk.over());
    CHECK(one.serve() == exchange::turn::over);
}

TEST_CASE("an exchange holds its requests back while its answers are not taken", "[exchange]") {
    conversation one;
    one.receive("GET /large HTTP/1.1\r\nHost: x\r\n\r\n" + get);
    CHECK(one.talk.serve(one.with, exchange::waiting::forbidden) == exchange::turn::held);
    CHECK(one.talk.answered() == 1);
    one.talk.sent(one.talk.output().size() - 1);
    CHECK(one.serve() == exchange::turn::idle);
    CHECK(one.talk.answered() == 2);
}

TEST_CASE("an exchange has room for the longest message and one more reading, and forgets it afterwards", "[exchange]") {
    conversation one;
    const std::string body(64 * 1024, 'b');
    one.receive("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 65536\r\n\r\n" + body + get);
    CHECK(one.serve() == exchange::turn::held);
    CHECK(one.serve() == exchange::turn::idle);
    CHECK(one.output.find(body) != std::string::npos);
    CHECK(one.output.find("GET /a ") != std::string::npos);
    one.talk.shrink();
    one.talk.begin(ip_address::v4(192, 0, 2, 2), true);
    CHECK(one.talk.room().size() == 8 * 1024);
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

TEST_CASE("an exchange stops before a request that may block, where nobody may wait", "[exchange]") {
    post_blocks handler;
    const std::atomic<bool> stopping = false;
    const server_detail::answering with{handler, date, stopping};
    exchange talk{http::parser_settings{}};
    talk.begin(ip_address::v4(192, 0, 2, 1), false);
    const std::string sent = get + "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" + get;
    std::memcpy(talk.room().data(), sent.data(), sent.size());
    talk.received(sent.size());

    CHECK(talk.serve(with, exchange::waiting::forbidden) == exchange::turn::request);
    CHECK(talk.answered() == 1);
    CHECK(talk.serve(with, exchange::waiting::forbidden) == exchange::turn::request);
    CHECK(talk.answered() == 1);
    talk.answer(with);
    CHECK(talk.answered() == 2);
    CHECK(talk.serve(with, exchange::waiting::forbidden) == exchange::turn::idle);
    CHECK(talk.answered() == 3);
    CHECK(handler.followed == "yyyn");
}

TEST_CASE("an exchange goes on with all of it, where somebody may wait", "[exchange]") {
    post_blocks handler;
    const std::atomic<bool> stopping = false;
    const server_detail::answering with{handler, date, stopping};
    exchange talk{http::parser_settings{}};
    talk.begin(ip_address::v4(192, 0, 2, 1), false);
    const std::string sent = "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" + get;
    std::memcpy(talk.room().data(), sent.data(), sent.size());
    talk.received(sent.size());
    CHECK(talk.serve(with, exchange::waiting::allowed) == exchange::turn::idle);
    CHECK(talk.answered() == 2);
}
