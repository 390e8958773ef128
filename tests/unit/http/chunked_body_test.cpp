#include <tollgate/http/detail/chunked_body.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using http::detail::chunk_step;
using http::detail::chunked_body;

TEST_CASE("the data of chunks is moved together at the first chunk line, whatever follows") {
    const std::string head = "HEAD";
    const std::string coded = "3;x=\"\\\"\"\r\nabc\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n";
    for (std::size_t cut = 0; cut <= coded.size(); ++cut) {
        CAPTURE(cut);
        std::string bytes = head + coded + "next";
        chunked_body body;
        body.start(head.size());
        const auto early = body.step({bytes.data(), head.size() + cut}, 13);
        CHECK(early == (cut == coded.size() ? chunk_step::complete : chunk_step::needs_more));
        REQUIRE((early == chunk_step::complete || body.step({bytes.data(), bytes.size()}, 13) == chunk_step::complete));
        CHECK(bytes.substr(body.begin(), body.size()) == "abc0123456789");
        CHECK(bytes.substr(body.at()) == "next");
        CHECK(bytes.substr(0, head.size()) == head);
    }
}

TEST_CASE("too much data is detected at the chunk line that announces it") {
    std::string bytes = "3\r\nabc\r\nA\r\n";
    chunked_body body;
    body.start(0);
    CHECK(body.step({bytes.data(), bytes.size()}, 12) == chunk_step::too_large);
}
