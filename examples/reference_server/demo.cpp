#include "demo.hpp"

#include "data_directory.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace reference {

namespace {

using nlohmann::ordered_json;

/// Characters that are not easily confused.
template <std::size_t Count>
std::string random_characters() {
    constexpr std::string_view characters = "abcdefghijkmnpqrstuvwxyz23456789";
    static_assert(characters.size() == 32);
    std::array<std::byte, Count> bytes;
    if (!tollgate::system_random{}.fill(bytes)) throw run_error{"the system returned no random bytes."};
    std::string text;
    for (const std::byte each : bytes) text += characters[std::to_integer<std::size_t>(each) % characters.size()];
    return text;
}

/// The file has the demo as the ready line shows it, for people to read; those of other stores are below this name.
constexpr const char* elsewhere = "elsewhere";

/// Throws `json::exception` where a member is missing or has another type.
std::optional<demo> to_demo(const ordered_json& written) {
    const auto site = tollgate::account_id::from(written.at("sitesmaker_account").get<std::int64_t>());
    const auto shop = tollgate::account_id::from(written.at("itemplatform_account").get<std::int64_t>());
    if (!site || !shop) return std::nullopt;
    return demo{written.at("login"),        written.at("password"), written.at("token_username"),
                written.at("token_secret"), *site,                  *shop};
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

std::vector<demo> read_demos(const std::filesystem::path& data) {
    const auto text = read_small_file(file_in(data));
    if (!text) return {};
    std::vector<demo> demos;
    try {
        const auto file = ordered_json::parse(*text);
        const auto take = [&demos](const ordered_json& written) {
            if (demos.size() == kept_demos_max) return;
            if (auto read = to_demo(written)) demos.push_back(*std::move(read));
        };
        take(file);
        if (const auto others = file.find(elsewhere); others != file.end())
            for (const auto& each : *others) take(each);
    } catch (const nlohmann::json::exception&) {
        // A file in another form counts as missing.
    }
    return demos;
}

void write_demos(const std::filesystem::path& data, const std::vector<demo>& demos) {
    auto file = to_json(demos.front());
    for (std::size_t at = 1; at < (std::min)(demos.size(), kept_demos_max); ++at)
        file[elsewhere].push_back(to_json(demos[at]));
    write_private_file(file_in(data), file.dump(2) + "\n");
}

std::string make_demo_password() { return random_characters<16>(); }

std::string make_demo_login() { return std::string{demo_login} + "-" + random_characters<5>(); }

}  // namespace reference
