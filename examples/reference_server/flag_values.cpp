#include "flag_values.hpp"

#include "failure.hpp"
#include "text_values.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace reference {

namespace {

using std::string_view;

bool begins_like_a_flag(string_view word) { return word.starts_with("--"); }

void expect_value(const std::string& flag, string_view value) {
    if (begins_like_a_flag(value))
        throw usage_error{flag + ": a value is missing: '" + escape_controls(value) +
                          "' begins with two dashes."};
}

const CLI::App* find_command(const CLI::App& group, string_view name) {
    const auto named = group.get_subcommands([name](const CLI::App* each) { return each->get_name() == name; });
    return named.empty() ? nullptr : named.front();
}

}  // namespace

void expect_flag_values(const CLI::App& app, std::span<const char* const> texts) {
    const CLI::App* current = &app;
    for (std::size_t at = 0; at < texts.size(); ++at) {
        const string_view word = texts[at];
        if (!begins_like_a_flag(word)) {
            if (const auto* deeper = find_command(*current, word)) current = deeper;
            continue;
        }
        const auto equals = word.find('=');
        const std::string flag{word.substr(0, equals)};
        const CLI::Option* known = current->get_option_no_throw(flag);
        if (known == nullptr) continue;
        if (equals != string_view::npos) {
            const auto value = word.substr(equals + 1);
            if (value.empty()) throw usage_error{flag + ": a value is missing after the '='."};
            expect_value(flag, value);
        } else if (known->get_items_expected_max() > 0 && at + 1 < texts.size()) {
            expect_value(flag, texts[++at]);
        }
    }
}

}  // namespace reference
