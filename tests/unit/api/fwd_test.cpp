#include <tollgate/fwd.hpp>

namespace {

/// What a header can declare with <tollgate/fwd.hpp> alone.
struct forward_declared {
    tollgate::account_service* service;
    tollgate::account_api* api;
    tollgate::authorization_server* oauth;
    tollgate::account_pages* pages;
    tollgate::hook_dispatcher* dispatcher;
    tollgate::any_store* store;
    tollgate::memory_store* memory;
    tollgate::any_page_theme* theme;
    tollgate::policies* policies;
    tollgate::route_table* routes;
    tollgate::server* server;
    tollgate::account_service_settings* settings;
    tollgate::server_settings* server_settings;
    tollgate::http::handler_ref* handler;
    tollgate::http::site* site;
    tollgate::http::request* request;
    tollgate::http::response* response;
};

}  // namespace

#include <tollgate/tollgate.hpp>

#include <catch2/catch.hpp>

TEST_CASE("what is declared ahead is what the headers define", "[api][fwd]") {
    tollgate::http::response response;
    forward_declared all{};
    all.response = &response;
    all.response->body() = "x";
    CHECK(response.body() == "x");
    CHECK(sizeof(*all.service) + sizeof(*all.server) + sizeof(*all.store) > 0);
}
