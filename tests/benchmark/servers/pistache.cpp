// Pistache with one worker thread in addition to the accepting one.

#include "../common/fixed_answer.hpp"

#include <pistache/endpoint.h>
#include <pistache/http.h>

#include <string>

namespace {

class fixed_handler : public Pistache::Http::Handler {
public:
    HTTP_PROTOTYPE(fixed_handler)

    void onRequest(const Pistache::Http::Request&, Pistache::Http::ResponseWriter answer) override {
        answer.headers().add<Pistache::Http::Header::ContentType>(MIME(Application, Json));
        answer.send(Pistache::Http::Code::Ok, benchmark::body.data(), benchmark::body.size());
    }
};

}  // namespace

int main(int argc, char** argv) {
    const auto port = benchmark::port_argument(argc, argv);
    Pistache::Http::Endpoint server{Pistache::Address{Pistache::Ipv4::loopback(), Pistache::Port{port}}};
    server.init(Pistache::Http::Endpoint::options().threads(1).flags(Pistache::Tcp::Options::ReuseAddr |
                                                                      Pistache::Tcp::Options::NoDelay));
    server.setHandler(Pistache::Http::make_handler<fixed_handler>());
    server.serve();
}
