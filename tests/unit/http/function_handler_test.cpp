#include <tollgate/http/function_handler.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>

using namespace tollgate;

namespace {

template <class Function>
http::response respond(http::function_handler<Function>& handler) {
    const http::request request;
    http::response response;
    handler.handle(request, response);
    return response;
}

}  // namespace

TEST_CASE("a function is a handler", "[http][function_handler]") {
    http::function_handler hello{[](const http::request&, http::response& response) { response.body() = "hello"; }};
    static_assert(http::handler<decltype(hello)>);
    CHECK(respond(hello).body() == "hello");
    CHECK(respond(hello).status() == http::status::ok);
    CHECK(hello.may_block());
    CHECK(http::handler_ref{hello}.may_block());
    http::function_handler quick{[](const http::request&, http::response&) {}, http::waits::never};
    CHECK_FALSE(http::handler_ref{quick}.may_block());
}

TEST_CASE("a function that throws responds with an error and nothing that it wrote", "[http][function_handler]") {
    http::function_handler failing{[](const http::request&, http::response& response) {
        response.body() = "half";
        response.add("X-Half", "1");
        throw std::runtime_error{"a secret of the database"};
    }};
    const auto response = respond(failing);
    CHECK(response.status() == http::status::internal_server_error);
    CHECK(response.body() == R"({"message":"Internal server error."})");
    CHECK(response.find("X-Half").empty());
    CHECK(response.find("Content-Type") == "application/json");
    http::function_handler throwing_a_number{[](const http::request&, http::response&) { throw 7; }};
    CHECK(respond(throwing_a_number).status() == http::status::internal_server_error);
}

TEST_CASE("a refusal has its reason", "[http][function_handler]") {
    http::function_handler hello{[](const http::request&, http::response&) {}};
    http::response response;
    hello.handle(http::refusal{http::status::uri_too_long, "The target is too long.", {}}, response);
    CHECK(response.status() == http::status::uri_too_long);
    CHECK(response.body() == R"({"message":"The target is too long."})");
}

TEST_CASE("the value of a field may be a text of run time, which is checked", "[http][response]") {
    http::response response;
    const std::string name = "Ann";
    response.add("X-Name", name);
    CHECK(response.find("X-Name") == "Ann");
    for (const char* bad : {"a\r\nSet-Cookie: x=1", "a\n", "\x01", "\x7f", "\xc3\xa4"}) {
        CAPTURE(bad);
        CHECK_THROWS_AS(response.add("X-Name", std::string{bad}), std::invalid_argument);
    }
    CHECK(response.field_block() == "X-Name: Ann\r\n");
}
