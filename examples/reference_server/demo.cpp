#include "demo.hpp"

#include "data_directory.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>

namespace reference {

namespace {

using nlohmann::ordered_json;

/// None that is mistaken for another.
template <std::size_t Count>
std::string random_characters() {
    constexpr std::string_view characters = "abcdefghijkmnpqrstuvwxyz23456789";
    static_assert(characters.size() == 32);
    std::array<std::byte, Count> bytes;
    if (!tollgate::system_random{}.fill(bytes)) throw run_error{"the system gives no random bytes."};
    std::string made;
    for (const std::byte each : bytes) made += characters[std::to_integer<std::size_t>(each) % characters.size()];
    return made;
}

std::filesystem::path file_in(const std::filesystem::path& data) { return data / "demo.json"; }

}  // namespace

ordered_json to_json(const demo& shown) {
    return {{"login", shown.login},
            {"password", shown.password},
            {"token_username", shown.token_username},
            {"token_secret", shown.token_secret},
            {"sitesmaker_account", shown.sitesmaker_account.value()},
            {"itemplatform_account", shown.itemplatform_account.value()}};
}

std::optional<demo> read_demo(const std::filesystem::path& data) {
    const auto text = read_private_file(file_in(data));
    if (!text) return std::nullopt;
    try {
        const auto kept = ordered_json::parse(*text);
        const auto site = tollgate::account_id::from(kept.at("sitesmaker_account").get<std::int64_t>());
        const auto shop = tollgate::account_id::from(kept.at("itemplatform_account").get<std::int64_t>());
        if (!site || !shop) return std::nullopt;
        return demo{
            kept.at("login"), kept.at("password"), kept.at("token_username"), kept.at("token_secret"), *site, *shop};
    } catch (const nlohmann::json::exception&) {  // not as we wrote it: as good as not there
        return std::nullopt;
    }
}

void write_demo(const std::filesystem::path& data, const demo& kept) {
    write_private_file(file_in(data), to_json(kept).dump(2) + "\n");
}

std::string make_demo_password() { return random_characters<16>(); }

std::string make_demo_login() { return std::string{demo_login} + "-" + random_characters<5>(); }

}  // namespace reference
