#pragma once

#include <tollgate/model/settings.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/base/system_sources.hpp>

#include <openssl/evp.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// The whole API with one user, for all programs that measure it.
namespace benchmark {

inline constexpr tollgate::user_id the_user{1};

/// One user with the balance that the bare handlers return, and a quota that no benchmark uses up.
struct one_user {
    static constexpr bool blocking = false;

    tollgate::result<tollgate::balance> balance_of(tollgate::user_id user) {
        return tollgate::balance{user, *tollgate::decimal::parse("1234.56"), "EUR"};
    }
    tollgate::result<std::vector<tollgate::account>> accounts_of(tollgate::user_id, std::string_view) {
        return std::vector<tollgate::account>{};
    }
    tollgate::result<std::optional<tollgate::quota>> quota_of(tollgate::user_id) {
        return std::optional{tollgate::quota{1'000'000'000, std::chrono::hours{24}}};
    }
};
static_assert(tollgate::user_directory<one_user>);

inline tollgate::account_service_settings settings() {
    tollgate::account_service_settings result;
    result.base_url = "http://127.0.0.1/v1";
    result.auth_url = "http://127.0.0.1";
    if (!result.services.add("sitesmaker", {"site.created", "site.published", "site.deleted"}))
        throw std::logic_error{"the service catalog refuses its usual content"};
    return result;
}

/// A new personal token of a user, as the value of an Authorization field.
template <class Store>
std::string add_token(Store& store, tollgate::user_id user = the_user) {
    tollgate::system_random random;
    std::array<std::byte, 16> name_bytes;
    std::array<std::byte, 32> secret_bytes;
    if (!random.fill(name_bytes) || !random.fill(secret_bytes)) throw std::runtime_error{"no random bytes"};
    const auto username = tollgate::make_public_id(tollgate::public_id_kind::username, name_bytes);
    const auto secret = tollgate::make_secret(tollgate::secret_kind::personal_token, secret_bytes);
    const auto created = store.create_personal_token({.user = user,
                                                      .username = username,
                                                      .secret_digest = tollgate::digest_of(secret.view()),
                                                      .description = "benchmark",
                                                      .scopes = *tollgate::scope_set::parse("user:balance"),
                                                      .created_at = tollgate::system_clock{}.now()},
                                                     tollgate::limits::personal_tokens_per_user_max);
    if (!created) throw std::runtime_error{"the store takes no token"};

    const std::string pair = std::string{username.view()} + ":" + std::string{secret.view()};
    std::string encoded(pair.size() * 2, '\0');
    const auto* const from = reinterpret_cast<const unsigned char*>(pair.data());
    auto* const to = reinterpret_cast<unsigned char*>(encoded.data());
    encoded.resize(static_cast<std::size_t>(EVP_EncodeBlock(to, from, static_cast<int>(pair.size()))));
    return "Basic " + encoded;
}

}  // namespace benchmark
