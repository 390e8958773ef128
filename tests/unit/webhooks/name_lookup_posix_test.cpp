#include <tollgate/webhooks/detail/name_lookup.hpp>

#include <tollgate/base/detail/host_lookup.hpp>
#include <tollgate/webhooks/detail/absolute_lookup.hpp>

#include <support/child_process.hpp>
#include <support/temporary_directory.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <resolv.h>
#include <sys/socket.h>
#include <unistd.h>

// Windows has no `fork`, no `chroot`, and no file that names the name servers.

using namespace tollgate;

namespace {

/// A DNS server at port 53 of an address of this machine, which says that every name has the IPv4 address 192.0.2.`answer` (RFC 1035
/// section 4.1).
class name_server {
public:
    name_server(const std::string& address, char answer) : answer_{answer} {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(53);
        ::inet_pton(AF_INET, address.c_str(), &at.sin_addr);
        if (::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
            throw std::runtime_error{"cannot be a DNS server at " + address + ": " + std::strerror(errno)};
    }
    name_server(const name_server&) = delete;
    name_server& operator=(const name_server&) = delete;
    ~name_server() { ::close(socket_); }

    [[nodiscard]] int native() const noexcept { return socket_; }

    void respond() const {
        constexpr std::size_t head_bytes = 12, type_and_class_bytes = 4;
        std::array<char, 512> bytes;
        sockaddr_in from{};
        socklen_t from_bytes = sizeof from;
        const auto received = ::recvfrom(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_bytes);
        if (received < static_cast<ssize_t>(head_bytes)) return;
        const std::string query{bytes.data(), static_cast<std::size_t>(received)};
        const auto question_end = query.find('\0', head_bytes) + 1 + type_and_class_bytes;
        const bool asks_for_ipv4 = query.substr(question_end - type_and_class_bytes, 2) == std::string{"\0\1", 2};
        std::string response = query.substr(0, 2) + std::string{"\x81\x80\0\1\0", 5} + (asks_for_ipv4 ? '\1' : '\0') + std::string(4, '\0') +
                               query.substr(head_bytes, question_end - head_bytes);
        // The name of the question, A, IN, 60 s, four bytes.
        if (asks_for_ipv4) response += std::string{"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\xc0\0\2", 15} + answer_;
        (void)::sendto(socket_, response.data(), response.size(), 0, reinterpret_cast<const sockaddr*>(&from), from_bytes);
    }

private:
    const int socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const char answer_;
};

}  // namespace

TEST_CASE("a name is looked up as an absolute one, and first in the file of hosts") {
    static std::vector<std::string> asked;
    asked.clear();
    const auto resolver = [](const char* host, const char*, const addrinfo* hints, addrinfo** found) -> int {
        asked.emplace_back(host);
        if (asked.back() == "slow.example.") return EAI_AGAIN;
        if (asked.back() != "shop.example.") return EAI_NONAME;
        return ::getaddrinfo("192.0.2.7", nullptr, hints, found);
    };
    const tollgate_test::temporary_directory directory;
    const std::string file = directory.file("hosts");
    std::ofstream{file} << "127.0.0.1\tlocalhost\n::1 localhost ip6-localhost\n# 192.0.2.1 off.example\n"
                           "  192.0.2.2  long.example  Short # other.example\nnonsense bad.example\n192.0.2.3\n192.0.2.2 short\r\n";
    const auto look_up = [&](const std::string& host) { return webhooks::detail::look_up_absolute(host, file.c_str(), resolver); };
    const auto v4 = [](std::uint8_t last) { return std::vector{ip_address::v4(192, 0, 2, last)}; };
    const auto options = _res.options;
    CHECK(look_up("shop.example") == v4(7));
    CHECK(look_up("shop.example.") == v4(7));
    CHECK(look_up("shop").empty());
    CHECK(asked == std::vector<std::string>{"shop.example.", "shop.example.", "shop."});
    asked.clear();
    CHECK(look_up("localhost") == std::vector{ip_address::v4(127, 0, 0, 1), *ip_address::parse("::1")});
    CHECK(look_up("short") == v4(2));
    CHECK(look_up("LONG.example.") == v4(2));
    CHECK(asked.empty());
    for (const char* const each : {"off.example", "other.example", "bad.example", "example", "192.0.2.3"}) CHECK(look_up(each).empty());
    CHECK(asked.size() == 5);
    CHECK_THROWS_AS(look_up("slow.example"), std::system_error);
    CHECK(webhooks::detail::look_up_absolute("shop.example", "/nowhere/hosts", resolver) == v4(7));
    CHECK_FALSE(system_lookup("localhost").empty());
    // Changed options would keep glibc from reading a changed resolv.conf.
    CHECK(_res.options == options);
}

TEST_CASE("a changed DNS server applies from the next lookup on") {
    // A child with a root directory of its own, and so with a resolv.conf of its own. Processes that run this at once use other addresses.
    const auto id = static_cast<unsigned>(::getpid());
    const auto address = [id](int number) {
        return "127." + std::to_string(100 + number) + '.' + std::to_string(id >> 8 & 0xff) + '.' + std::to_string((id & 0xff) | 1U);
    };
    const name_server first{address(1), 1}, second{address(2), 2};
    const tollgate_test::temporary_directory root;
    std::filesystem::create_directory(root.file("etc"));
    tollgate_test::number_pipe lives;
    tollgate_test::child_process child{[&] {
        if (::chroot(root.path().c_str()) != 0 || ::chdir("/") != 0) return 1;
        const auto use = [&](int number) {
            std::ofstream{"/etc/next"} << "search office.test\nnameserver " << address(number) << '\n';
            (void)std::rename("/etc/next", "/etc/resolv.conf");
        };
        const auto finds = [](std::uint8_t last) {
            return system_lookup("shop.test") == std::vector{ip_address::v4(192, 0, 2, last)};
        };
        const auto finds_host = [](std::uint8_t last) {
            const auto found = tollgate::detail::look_up_host("shop.test", std::chrono::minutes{1});
            if (!found || (*found)->ai_family != AF_INET) return false;
            sockaddr_in v4{};
            std::memcpy(&v4, (*found)->ai_addr, sizeof v4);
            return ntohl(v4.sin_addr.s_addr) == (0xc0000200U | last);
        };
        use(1);
        if (!finds(1)) return 2;
        if (!finds_host(1)) return 3;
        use(2);
        if (!finds(2)) return 4;
        return finds_host(2) ? 0 : 5;
    }};
    lives.close_writing();
    for (;;) {
        std::array<pollfd, 3> all{{{lives.reading(), POLLIN, 0}, {first.native(), POLLIN, 0}, {second.native(), POLLIN, 0}}};
        REQUIRE(::poll(all.data(), all.size(), -1) > 0);
        if (all[1].revents != 0) first.respond();
        if (all[2].revents != 0) second.respond();
        if (all[0].revents != 0) break;  // the child has ended
    }
    CHECK(child.wait() == 0);
}
