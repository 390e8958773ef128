#include "flag_values.hpp"

#include "failure.hpp"
#include "text_values.hpp"

#include <CLI/CLI.hpp>

#include <set>
#include <string>
#include <string_view>

namespace reference {

namespace {

using std::string_view;

bool begins_like_a_flag(string_view word) { return word.starts_with("--"); }

void expect_value(const std::string& flag, string_view value) {
    if (value.empty() && flag != "--description") throw usage_error{flag + ": a value is missing."};
    if (begins_like_a_flag(value))
        throw usage_error{flag + ": a value is missing: '" + to_quotable(value) +
                          "' begins with two dashes."};
}

const CLI::App* find_command(const CLI::App& group, string_view name) {
    const auto named = group.get_subcommands([name](const CLI::App* each) { return each->get_name() == name; });
    return named.empty() ? nullptr : named.front();
}

}  // namespace

void expect_flags(const CLI::App& app, std::span<const char* const> texts) {
    const CLI::App* current = &app;
    std::string command;
    std::set<const CLI::Option*> given;
    for (std::size_t at = 0; at < texts.size(); ++at) {
        const string_view word = texts[at];
        const auto equals = begins_like_a_flag(word) ? word.find('=') : string_view::npos;
        const std::string flag{word.substr(0, equals)};
        const CLI::Option* known = current->get_option_no_throw(flag);
        if (known == nullptr) {
            const bool is_group = !current->get_subcommands({}).empty();
            if (is_group && !begins_like_a_flag(word)) {
                current = find_command(*current, word);
                if (current == nullptr) return;  // CLI11 reports it
                command.append(command.empty() ? "" : " ").append(word);
                continue;
            }
            if (is_group) throw usage_error{to_quotable(flag) + ": flags follow the command."};
            if (begins_like_a_flag(word)) throw usage_error{to_quotable(flag) + " is not a flag of '" + command + "'."};
            throw usage_error{"unexpected argument '" + to_quotable(word) + "' of '" + command + "'."};
        }
        if (!given.insert(known).second && known->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
            throw usage_error{flag + " is given more than once."};
        if (equals != string_view::npos) {
            const auto value = word.substr(equals + 1);
            if (value.empty()) throw usage_error{flag + ": a value is missing after the '='."};
            expect_value(flag, value);
        } else if (known->get_items_expected_max() > 0) {
            if (++at == texts.size()) throw usage_error{flag + ": a value is missing."};
            expect_value(flag, texts[at]);
        }
    }
}

}  // namespace reference
