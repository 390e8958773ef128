// cpp-httplib uses a blocking thread for each connection: its pool has one for each connection of the load.

#include "../common/fixed_answer.hpp"

#include <httplib.h>

#include <limits>
#include <string>

int main(int argc, char** argv) {
    const auto port = benchmark::port_argument(argc, argv);
    httplib::Server server;
    server.new_task_queue = [] { return new httplib::ThreadPool{128}; };
    server.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
    server.set_keep_alive_timeout(60);
    server.set_tcp_nodelay(true);
    server.Get("/v1/user/balance", [](const httplib::Request&, httplib::Response& answer) {
        answer.set_content(benchmark::body.data(), benchmark::body.size(), std::string{benchmark::content_type});
    });
    return server.listen("127.0.0.1", port) ? 0 : 1;
}
