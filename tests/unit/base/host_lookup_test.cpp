#include <tollgate/base/detail/host_lookup.hpp>

#include <support/eventually.hpp>
#include <support/gate.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <string>

using namespace tollgate;
using tollgate::detail::host_lookup_threads_max;
using tollgate::detail::look_up_host;

namespace {

constexpr milliseconds long_enough{60'000};

std::string error_of(const result<tollgate::detail::host_addresses>& found) { return found ? "none" : found.error().cause; }

/// A resolver that only knows addresses, and waits for `gate` for a name.
struct resolver_that_hangs {
    static inline tollgate_test::gate gate;
    static inline std::atomic<int> waiting = 0;

    static int look_up(const char* host, const char* port, const addrinfo* hints, addrinfo** found) {
        if ((hints->ai_flags & AI_NUMERICHOST) != 0) return ::getaddrinfo(host, port, hints, found);
        ++waiting;
        gate.wait();
        --waiting;
        return EAI_AGAIN;
    }
};

}  // namespace

TEST_CASE("an address needs no resolver, a name gets addresses or an error") {
    const auto addresses = look_up_host("127.0.0.1", "80", long_enough, [](const char* host, const char* port, const addrinfo* hints,
                                                                            addrinfo** found) {
        CHECK((hints->ai_flags & AI_NUMERICHOST) != 0);
        return ::getaddrinfo(host, port, hints, found);
    });
    REQUIRE(addresses);
    REQUIRE(*addresses != nullptr);
    CHECK((*addresses)->ai_family == AF_INET);
    CHECK((*addresses)->ai_socktype == SOCK_STREAM);
    CHECK((*addresses)->ai_next == nullptr);

    CHECK(look_up_host("localhost", {}, long_enough));
    CHECK(error_of(look_up_host("not a host name", {}, long_enough)).starts_with("no address for the host name: "));
    CHECK(error_of(look_up_host("127.0.0.1", "http", long_enough)).starts_with("no address for the host name: "));
}

TEST_CASE("lookups that hang are bounded in time and number") {
    using hanging = resolver_that_hangs;
    const auto look_up = [](const char* host) { return look_up_host(host, {}, milliseconds{1}, &hanging::look_up); };
    for (int i = 0; i < host_lookup_threads_max; ++i) CHECK(error_of(look_up("shop.test")) == "no address for the host name in time");
    CHECK(error_of(look_up("shop.test")) == "lookups of host names hang");
    CHECK(look_up("127.0.0.1"));
    hanging::gate.wait_for_calls(host_lookup_threads_max);
    CHECK(hanging::waiting == host_lookup_threads_max);

    hanging::gate.open();
    const auto resolves_again = [] {
        return error_of(look_up_host("shop.test", {}, long_enough, &hanging::look_up)).starts_with("no address for the host name: ");
    };
    CHECK(tollgate_test::eventually(resolves_again));
}
