#include "admin_commands.hpp"

#include "failure.hpp"

#include <tollgate/base/limits.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

namespace reference {

using namespace tollgate;

namespace {

constexpr std::size_t password_bytes_min = 8;

}  // namespace

static_assert(limits::password_bytes_max == 1024 && password_bytes_min == 8, "the messages name the bounds");

std::string read_password() {
    std::string line;
    std::getline(std::cin, line);
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) throw usage_error{"--password-stdin: stdin holds no password."};
    // NIST SP 800-63B section 5.1.1.2. Twelve would be better against a stolen database; guessing is throttled at sign-in.
    if (line.size() < password_bytes_min)
        throw usage_error{"--password-stdin: the password is shorter than 8 bytes."};
    if (line.size() > limits::password_bytes_max)
        throw usage_error{"--password-stdin: the password is longer than 1024 bytes."};
    return line;
}

nlohmann::ordered_json administer(const command& wanted, const settings& with) {
#if defined(TOLLGATE_WITH_POSTGRES)
    if (with.store_location().kind == location::kind::postgres) return administer_on_postgres(wanted, with);
#endif
    return administer_on_sqlite(wanted, with);
}

}  // namespace reference
