// Boost.Beast as its own examples show it: an asynchronous session a connection, with its parser, messages, serializer.

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
        asked_ = {};
        http::async_read(stream_, buffer_, asked_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
            if (!failed) self->answer();
        });
    }

private:
    void answer() {
        answer_ = {http::status::ok, asked_.version()};
        answer_.set(http::field::content_type, {benchmark::content_type.data(), benchmark::content_type.size()});
        answer_.keep_alive(asked_.keep_alive());
        answer_.body().assign(benchmark::body);
        answer_.prepare_payload();
        http::async_write(stream_, answer_, [self = shared_from_this()](beast::error_code failed, std::size_t) {
            if (!failed && self->answer_.keep_alive()) self->receive();
        });
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_;
    http::request<http::string_body> asked_;
    http::response<http::string_body> answer_;
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
