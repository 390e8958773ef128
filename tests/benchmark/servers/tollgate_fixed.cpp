// Tollgate's server with a handler that computes nothing; with a certificate and a key, over TLS.

#include "../common/serve.hpp"

namespace {

struct fixed_handler {
    void handle(const tollgate::http::request&, tollgate::http::response& out) noexcept {
        out.add("Content-Type", "application/json");
        out.body() = benchmark::body;
    }
    void handle(const tollgate::http::refusal& refused, tollgate::http::response& out) noexcept {
        out.set_status(refused.status);
    }
};

}  // namespace

int main(int argc, char** argv) {
    fixed_handler handler;
    return benchmark::serve(handler, argc, argv);
}
