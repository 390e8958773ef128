// RESTinio with its single-threaded traits, which use no locks.

#include "../common/fixed_answer.hpp"

#include <restinio/all.hpp>

#include <string>

int main(int argc, char** argv) {
    const auto port = benchmark::port_argument(argc, argv);
    restinio::run(restinio::on_this_thread<restinio::default_single_thread_traits_t>()
                      .port(port)
                      .address("127.0.0.1")
                      .max_pipelined_requests(16)
                      .socket_options_setter([](auto& options) { options.set_option(asio::ip::tcp::no_delay{true}); })
                      .request_handler([](const auto& request) {
                          return request->create_response()
                              .append_header_date_field()
                              .append_header(restinio::http_field::content_type, std::string{benchmark::content_type})
                              .set_body(std::string{benchmark::body})
                              .done();
                      }));
}
