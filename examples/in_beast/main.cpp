// Tollgate inside a Boost.Beast server: only `handle`, without `tollgate::server`, its threads or its io_context.
//
// The Beast server is the simplest possible, with one thread and a coroutine per connection; `answer` is the part that matters.
#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/api/account_api.hpp>
#include <tollgate/api/routes.hpp>
#include <tollgate/store/memory.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string_view>
#include <utility>

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;
using beast_request = bhttp::request<bhttp::string_body>;
using beast_response = bhttp::response<bhttp::string_body>;
using asio::ip::tcp;
using namespace tollgate;

struct shop_directory {
    static constexpr bool blocking = false;  // answers at once
    result<balance> balance_of(user_id user) { return balance{user, "12.50", "EUR"}; }
    result<std::vector<account>> accounts_of(user_id, std::string_view) { return {}; }
};

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

ip_address address_of(const asio::ip::address& peer) {
    if (peer.is_v4()) {
        const auto bytes = peer.to_v4().to_bytes();
        return ip_address::v4(bytes[0], bytes[1], bytes[2], bytes[3]);
    }
    return ip_address::from_bytes(peer.to_v6().to_bytes());
}

// [answer]
/// Converts Beast's request to Tollgate's, which only consists of views, and Tollgate's response to Beast's.
template <http::handler Handler>
beast_response answer(Handler& handler, const beast_request& from, ip_address peer) {
    http::request request;
    request.method_name = view(from.method_string());
    request.method = http::to_method(request.method_name);
    request.target = http::target::from(view(from.target()));
    request.version = from.version() == 10 ? http::version::http_1_0 : http::version::http_1_1;
    request.body = from.body();
    request.peer = peer;
    bool fits = true;
    for (const auto& field : from) fits = fits && request.fields.add(view(field.name_string()), view(field.value()));

    http::response response;
    if (fits)
        handler.handle(request, response);
    else
        handler.handle(http::refusal{http::status::header_fields_too_large, "Too many fields.", request.peer}, response);

    beast_response to{static_cast<bhttp::status>(http::to_number(response.status())), from.version()};
    response.for_each_field([&to](std::string_view name, std::string_view value) {
        to.insert({name.data(), name.size()}, {value.data(), value.size()});
    });
    to.keep_alive(from.keep_alive());
    to.body() = std::move(response.body());
    if (response.status() != http::status::no_content) to.prepare_payload();
    if (request.method == http::method::head) to.body().clear();  // its length is already set
    return to;
}
// [/answer]

/// Serves one connection. A client can end it at any time, so errors are values here. Reading or writing takes at most 30 seconds.
asio::awaitable<void> serve(http::handler_ref handler, beast::tcp_stream stream) {
    beast::error_code failed;
    const auto peer = stream.socket().remote_endpoint(failed);  // fails if the client is gone already
    beast::flat_buffer buffer;
    for (bool keep_alive = !failed; keep_alive;) {
        beast_request request;
        stream.expires_after(std::chrono::seconds{30});
        co_await bhttp::async_read(stream, buffer, request, asio::redirect_error(asio::use_awaitable, failed));
        if (failed) co_return;
        const auto answered = answer(handler, request, address_of(peer.address()));
        bhttp::response_serializer<bhttp::string_body> serializer{answered};
        stream.expires_after(std::chrono::seconds{30});
        co_await bhttp::async_write(stream, serializer, asio::redirect_error(asio::use_awaitable, failed));
        keep_alive = !failed && answered.keep_alive();
    }
}

template <http::handler Handler>
asio::awaitable<void> accept_from(tcp::acceptor& acceptor, Handler& handler) {
    asio::steady_timer pause{acceptor.get_executor()};
    for (;;) {
        beast::error_code failed;
        auto socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, failed));
        if (!failed) {
            asio::co_spawn(acceptor.get_executor(), serve(handler, beast::tcp_stream{std::move(socket)}), asio::detached);
            continue;
        }
        pause.expires_after(std::chrono::milliseconds{100});  // out of file descriptors: connections have to end first
        co_await pause.async_wait(asio::use_awaitable);
    }
}

int main(int argc, char** argv) try {
    account_service_settings settings{.base_url = "http://127.0.0.1:8080/v1", .auth_url = "http://127.0.0.1:8080",
                          .services = {{"shop", {"order.paid"}}}};
    shop_directory users;
    memory_store store;
    account_api api{settings, users, store, account_routes()};

    asio::io_context context{1};
    const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 8080);
    tcp::acceptor acceptor{context, tcp::endpoint{asio::ip::address_v4::loopback(), port}};

    const auto scopes = *scope_set::parse("user:balance");
    const auto token = issue_personal_token(store, {user_id{1}, "in_beast", scopes}, system_clock{}.now());
    if (!token) return report(token.error());
    std::cout << "curl -u " << token->username.view() << ':' << token->secret.view()
              << " http://127.0.0.1:" << acceptor.local_endpoint().port() << "/v1/user/balance" << std::endl;
    asio::co_spawn(context, accept_from(acceptor, api), [](std::exception_ptr failed) {
        if (failed) std::rethrow_exception(failed);  // out of memory: `run` throws it
    });
    context.run();
} catch (const std::exception& error) {  // the port is taken, for instance
    std::cerr << error.what() << '\n';
    return 1;
}
