#include <tollgate/base/detail/host_lookup.hpp>

#include <support/eventually.hpp>
#include <support/failing_new.hpp>
#include <support/gate.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using namespace tollgate;
using tollgate::detail::host_lookups_max;
using tollgate::detail::host_lookups;
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
    host_lookups addresses_only{[](const char* host, const char* port, const addrinfo* hints, addrinfo** found) {
        CHECK((hints->ai_flags & AI_NUMERICHOST) != 0);
        return ::getaddrinfo(host, port, hints, found);
    }};
    const auto addresses = addresses_only.look_up("127.0.0.1", long_enough);
    REQUIRE(addresses);
    REQUIRE(*addresses != nullptr);
    CHECK((*addresses)->ai_family == AF_INET);
    CHECK((*addresses)->ai_socktype == SOCK_STREAM);
    CHECK((*addresses)->ai_next == nullptr);

    CHECK(look_up_host("localhost", long_enough));
    CHECK(error_of(look_up_host("not a host name", long_enough)).starts_with("no address for the host name: "));
}

TEST_CASE("an address keeps its zone, and gets a port") {
    const auto found = look_up_host("fe80::1%1", long_enough);
    REQUIRE(found);
    const tollgate::detail::host_address at{**found, 6379};
    CHECK(at.bytes == sizeof(sockaddr_in6));
    sockaddr_in6 v6{};
    std::memcpy(&v6, &at.name, sizeof v6);
    CHECK(v6.sin6_scope_id == 1);
    CHECK(ntohs(v6.sin6_port) == 6379);
    sockaddr_in v4{};
    const tollgate::detail::host_address local{**look_up_host("127.0.0.1", long_enough), 80};
    std::memcpy(&v4, &local.name, sizeof v4);
    CHECK(ntohs(v4.sin_port) == 80);
    CHECK(v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
}

TEST_CASE("lookups that hang are bounded in time, and in number by the names") {
    using hanging = resolver_that_hangs;
    host_lookups lookups{&hanging::look_up};
    const auto look_up = [&](const std::string& host) { return lookups.look_up(host, milliseconds{1}); };
    for (int i = 0; i < 100; ++i) CHECK(error_of(look_up("shop.test")) == "no address for the host name in time");
    hanging::gate.wait_for_calls(1);
    CHECK(hanging::waiting == 1);
    for (std::size_t i = 1; i < host_lookups_max; ++i)
        CHECK(error_of(look_up(std::to_string(i) + ".test")) == "no address for the host name in time");
    hanging::gate.wait_for_calls(static_cast<int>(host_lookups_max));
    CHECK(error_of(look_up("another.test")) == "no address for the host name in time");
    CHECK(error_of(look_up("shop.test")) == "no address for the host name in time");
    CHECK(look_up("127.0.0.1"));
    CHECK(hanging::waiting == static_cast<int>(host_lookups_max));

    hanging::gate.open();
    CHECK(error_of(lookups.look_up("another.test", long_enough)).starts_with("no address for the host name: "));
}

TEST_CASE("concurrent lookups of one name all get its addresses") {
    std::vector<std::jthread> threads;
    std::atomic<int> found = 0;
    for (int i = 0; i < 32; ++i)
        threads.emplace_back([&found] { found += look_up_host("localhost", long_enough).has_value() ? 1 : 0; });
    threads.clear();
    CHECK(found == 32);
}

#if !defined(TOLLGATE_TEST_NEW_IS_TAKEN)

TEST_CASE("a lookup that has no memory for the addresses it found is an error") {
    const auto without_memory = [](const char*, const char* port, const addrinfo* hints, addrinfo** found) {
        if ((hints->ai_flags & AI_NUMERICHOST) != 0) return EAI_NONAME;
        const int failed = ::getaddrinfo("127.0.0.1", port, hints, found);
        tollgate_test::allocations_left = 0;  // of the lookup's own thread
        return failed;
    };
    host_lookups lookups{without_memory};
    CHECK(error_of(lookups.look_up("short-of-memory.test", long_enough)).starts_with("no address for the host name"));
}

#endif
