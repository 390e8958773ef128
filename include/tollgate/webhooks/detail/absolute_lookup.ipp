#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_ABSOLUTE_LOOKUP_IPP
#define TOLLGATE_WEBHOOKS_DETAIL_ABSOLUTE_LOOKUP_IPP

#include <tollgate/base/detail/text.hpp>
#include <tollgate/webhooks/detail/absolute_lookup.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <istream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

namespace tollgate::inline v0::webhooks::detail {

TOLLGATE_DECL std::vector<ip_address> find_host(std::istream& hosts_file, std::string_view host) {
    constexpr std::string_view blanks = " \t\r";
    std::vector<ip_address> found;
    for (std::string line; std::getline(hosts_file, line);) {
        std::string_view rest{line};
        rest = rest.substr(0, rest.find('#'));
        const auto next_word = [&rest, blanks] {
            const auto begin = rest.find_first_not_of(blanks);
            rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
            const auto word = rest.substr(0, rest.find_first_of(blanks));
            rest.remove_prefix(word.size());
            return word;
        };
        const auto address = next_word();
        auto name = next_word();
        while (!name.empty() && !tollgate::detail::ascii_iequals(name, host)) name = next_word();
        if (name.empty()) continue;
        if (const auto parsed = ip_address::parse(address); parsed && std::find(found.begin(), found.end(), *parsed) == found.end())
            found.push_back(*parsed);
    }
    return found;
}

TOLLGATE_DECL std::vector<ip_address> look_up_absolute(const std::string& host, const char* hosts_file,
                                                       decltype(&::getaddrinfo) look_up) {
    const std::string_view name = std::string_view{host}.substr(0, host.size() - (host.ends_with('.') ? 1 : 0));
    if (std::ifstream file{hosts_file}; file)
        if (auto found = find_host(file, name); !found.empty()) return found;
    // A final dot makes the name absolute, so that no search list applies, whatever the system. glibc does not compare such a name with
    // those in /etc/hosts, therefore the file is read above. (To change the options in `_res` instead would keep glibc from
    // reading a changed resolv.conf.)
    const std::string absolute = std::string{name} + '.';
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    tollgate::detail::use_sockets();
    errno = 0;
    if (const int failed = look_up(absolute.c_str(), nullptr, &hints, &first); failed != 0) {
        const int cause = errno;
        if (failed == EAI_MEMORY) throw std::bad_alloc{};
        if (tollgate::detail::is_local_lookup_failure(failed, cause))
            throw std::system_error{cause, std::generic_category(), "cannot look up names"};
        if (failed == EAI_AGAIN) throw std::system_error{std::make_error_code(std::errc::timed_out)};
        return {};
    }

    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all{first, ::freeaddrinfo};

    std::vector<ip_address> found;
    for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
        if (each->ai_family == AF_INET) {
            sockaddr_in one{};
            std::memcpy(&one, each->ai_addr, sizeof one);
            std::array<std::uint8_t, 4> bytes{};
            std::memcpy(bytes.data(), &one.sin_addr, bytes.size());
            found.push_back(ip_address::v4(bytes[0], bytes[1], bytes[2], bytes[3]));
        } else if (each->ai_family == AF_INET6) {
            sockaddr_in6 one{};
            std::memcpy(&one, each->ai_addr, sizeof one);
            std::array<std::uint8_t, 16> bytes{};
            std::memcpy(bytes.data(), &one.sin6_addr, bytes.size());
            found.push_back(ip_address::from_bytes(bytes));
        }
    }
    return found;
}

}  // namespace tollgate::webhooks::detail

#endif  // TOLLGATE_WEBHOOKS_DETAIL_ABSOLUTE_LOOKUP_IPP
