#pragma once

#include <tollgate/api/account_service.hpp>
#include <tollgate/base/result.hpp>
#include <tollgate/server/server.hpp>
#include <tollgate/store/any_store.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// [class]
/// What the shop knows about its users.
class shop_directory {
public:
    static constexpr bool blocking = false;  // answers at once
    tollgate::result<tollgate::balance> balance_of(tollgate::user_id user);
    tollgate::result<std::vector<tollgate::account>> accounts_of(tollgate::user_id user, std::string_view service);
};

/// The shop's application. Its members are plain classes: each is constructed after those that it refers to.
class shop_app {
public:
    /// Without a file, the store is in memory. Throws what opening the file throws.
    explicit shop_app(const std::string& file);

    /// Serves in the background until it is destroyed.
    tollgate::result<void> start() { return server_.start(); }
    std::uint16_t port() const { return server_.port(); }
    /// A personal token of a user, as a script sends it in `Authorization`.
    tollgate::result<std::string> new_token(tollgate::user_id user);
    /// Answers a request without a socket.
    tollgate::http::response handle(const tollgate::http::request& request) { return service_.handle(request); }

private:
    shop_directory users_;
    tollgate::any_store store_;
    tollgate::account_service service_;
    tollgate::server server_;
};
// [/class]
