#include "config_file.hpp"

#include "data_directory.hpp"
#include "failure.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace reference {

namespace {

using nlohmann::json;

std::string_view to_text(flag_type type) {
    switch (type) {
        case flag_type::text: return "a string";
        case flag_type::number: return "a whole number";
        case flag_type::list: return "a string or an array of strings";
        case flag_type::toggle: return "true or false";
    }
    return {};
}

/// The value as on the command line; none for a value of another type.
std::optional<std::vector<std::string>> to_texts(flag_type type, const json& value) {
    switch (type) {
        case flag_type::text:
            if (value.is_string()) return std::vector{value.get<std::string>()};
            break;
        case flag_type::number:
            if (value.is_number_integer()) return std::vector{value.dump()};
            break;
        case flag_type::toggle:
            if (value.is_boolean()) return std::vector{value.dump()};
            break;
        case flag_type::list:
            if (value.is_string()) return std::vector{value.get<std::string>()};
            if (value.is_array() &&
                std::all_of(value.begin(), value.end(), [](const json& each) { return each.is_string(); }))
                return value.get<std::vector<std::string>>();
            break;
    }
    return std::nullopt;
}

std::string read_file(const std::filesystem::path& file) {
    std::optional<std::string> text;
    try {
        text = read_small_file(file);
    } catch (const run_error& error) {
        throw usage_error{"--config: " + escape_controls(error.what())};
    }
    if (!text) throw usage_error{"--config: there is no file '" + escape_controls(file.string()) + "'."};
    return *std::move(text);
}

json parse_object(const std::filesystem::path& file) {
    const auto refuse = [&file](const std::string& reason) {
        return usage_error{"--config: " + escape_controls(file.string()) + ": " + reason};
    };
    std::set<std::string> keys;
    std::string repeated;
    const auto note_keys = [&](int depth, json::parse_event_t event, json& parsed) {
        // Members of the outermost object are at depth 1. Of two equal keys, the parser would silently use one.
        if (event == json::parse_event_t::key && depth == 1 && !keys.insert(parsed.get<std::string>()).second)
            repeated = parsed.get<std::string>();
        return true;
    };
    json parsed;
    try {
        parsed = json::parse(read_file(file), note_keys);
    } catch (const json::parse_error& error) {
        throw refuse("not valid JSON near byte " + std::to_string(error.byte) + ".");
    }
    if (!parsed.is_object()) throw refuse("the configuration must be a JSON object.");
    if (!repeated.empty()) throw refuse("\"" + to_quotable(repeated) + "\" is given twice.");
    return parsed;
}

}  // namespace

std::vector<given_flag> read_config_file(const std::filesystem::path& file) {
    std::vector<given_flag> flags;
    const json object = parse_object(file);
    for (const auto& [key, value] : object.items()) {
        const auto known =
            std::find_if(all_flags().begin(), all_flags().end(), [&key](const flag& f) { return f.name == key; });
        const auto named = "--config: " + escape_controls(file.string()) + ": \"" + to_quotable(key) + "\" ";
        if (known == all_flags().end()) throw usage_error{named + "is not a setting."};
        auto texts = to_texts(known->type, value);
        if (!texts) throw usage_error{named + "must be " + std::string{to_text(known->type)} + "."};
        flags.push_back({known->name, std::move(*texts)});
    }
    return flags;
}

}  // namespace reference
