// Boost.Beast as in its own examples: an asynchronous session for each connection, with its parser, messages and serializer.

#include "../common/fixed_answer.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <memory>
#include <utility>

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

class session : public std::enable_shared_from_this<session> {
public:
    explicit session(tcp::socket&& socket) : stream_{std::move(socket)} {}

    void receive() {
        request_ = {};
        http::async_read(stream_, buffer_, request_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
            if (!failed) self->answer();
        });
    }

private:
    void answer() {
        response_ = {http::status::ok, request_.version()};
        response_.set(http::field::content_type, {benchmark::content_type.data(), benchmark::content_type.size()});
        response_.keep_alive(request_.keep_alive());
        response_.body().assign(benchmark::body);
        response_.prepare_payload();
        http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
            if (!failed && self->response_.keep_alive()) self->receive();
        });
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request<http::string_body> request_;
    http::response<http::string_body> response_;
};

void accept(tcp::acceptor& from) {
    from.async_accept([&from](beast::error_code failed, tcp::socket socket) {
        if (!failed) {
            socket.set_option(tcp::no_delay{true});
            std::make_shared<session>(std::move(socket))->receive();
        }
        accept(from);
    });
}

}  // namespace

int main(int argc, char** argv) {
    const auto port = benchmark::port_argument(argc, argv);
    asio::io_context context{1};
    tcp::acceptor listener{context, {asio::ip::address_v4::loopback(), port}};
    accept(listener);
    context.run();
}
