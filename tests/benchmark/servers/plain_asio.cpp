// The same as the raw epoll server, with Asio; with a certificate and a key, over asio::ssl::stream.

#include "../common/fixed_batch.hpp"

#include <asio/basic_socket_acceptor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/write.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace {

// Concrete executors throughout: the type-erased default costs an indirect call and a copy with each operation.
using executor = asio::io_context::executor_type;
using plain_stream = asio::basic_stream_socket<asio::ip::tcp, executor>;
using tls_stream = asio::ssl::stream<plain_stream>;
using acceptor = asio::basic_socket_acceptor<asio::ip::tcp, executor>;

template <class Stream>
struct connection {
    explicit connection(Stream&& from) : stream{std::move(from)} {}

    Stream stream;
    benchmark::fixed_batch batch;
};

template <class Stream>
void receive(std::unique_ptr<connection<Stream>> on) {
    auto& c = *on;
    c.stream.async_read_some(asio::buffer(c.batch.free_space(), c.batch.free_bytes()),
                             [on = std::move(on)](asio::error_code failed, std::size_t count) mutable {
                                 if (failed) return;
                                 const auto answer = on->batch.answer(count);
                                 if (on->batch.free_bytes() == 0) return;
                                 if (answer.empty()) return receive(std::move(on));
                                 auto& stream = on->stream;
                                 asio::async_write(stream, asio::buffer(answer),
                                                   [on = std::move(on)](asio::error_code cut, std::size_t) mutable {
                                                       if (!cut) receive(std::move(on));
                                                   });
                             });
}

void start(plain_stream&& socket, asio::ssl::context* tls) {
    socket.set_option(asio::ip::tcp::no_delay{true});
    if (tls == nullptr) return receive(std::make_unique<connection<plain_stream>>(std::move(socket)));
    auto accepted = std::make_unique<connection<tls_stream>>(tls_stream{std::move(socket), *tls});
    auto& stream = accepted->stream;
    stream.async_handshake(asio::ssl::stream_base::server, [accepted = std::move(accepted)](asio::error_code failed) mutable {
        if (!failed) receive(std::move(accepted));
    });
}

void accept(acceptor& from, asio::ssl::context* tls) {
    from.async_accept([&from, tls](asio::error_code failed, plain_stream socket) {
        if (!failed) start(std::move(socket), tls);
        accept(from, tls);
    });
}

}  // namespace

int main(int argc, char** argv) {
    const auto port = benchmark::port_argument(argc, argv);
    asio::io_context context{1};  // one thread runs it: no locks
    asio::ssl::context tls{asio::ssl::context::tls_server};
    const bool secure = argc > 3;
    if (secure) {
        tls.use_certificate_chain_file(argv[2]);
        tls.use_private_key_file(argv[3], asio::ssl::context::pem);
    }
    acceptor listener{context, {asio::ip::address_v4::loopback(), port}};
    accept(listener, secure ? &tls : nullptr);
    context.run();
}
