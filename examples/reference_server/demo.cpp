#include "demo.hpp"

#include "data_directory.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>

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

/// Throws if a member is missing or has another type, or an id is not positive.
demo to_demo(const ordered_json& written) {
    return {written.at("login"),
            written.at("password"),
            written.at("token_username"),
            written.at("token_secret"),
            tollgate::account_id::from(written.at("sitesmaker_account").get<std::int64_t>()).value(),
            tollgate::account_id::from(written.at("itemplatform_account").get<std::int64_t>()).value()};
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
    try {
        const auto file = ordered_json::parse(*text);
        std::vector<demo> demos{to_demo(file)};
        if (const auto others = file.find(elsewhere); others != file.end())
            for (const auto& each : *others)
                if (demos.size() < kept_demos_max) demos.push_back(to_demo(each));
        return demos;
    } catch (const std::exception&) {
        // The parser's own message could quote a secret of the file.
        throw run_error{"'" + file_in(data).string() + "' is damaged. Repair it, or delete it to get a new demo user."};
    }
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
