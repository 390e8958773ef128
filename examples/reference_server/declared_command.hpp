#pragma once

#include "command_line.hpp"
#include "failure.hpp"

#include <tollgate/base/limits.hpp>
#include <tollgate/http/json_body.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reference {

/// One command: its flags while they are declared and read, and the command that they make.
class declared_command {
public:
    declared_command(CLI::App& parent, const std::string& name, const std::string& meaning)
        : app_{parent.add_subcommand(name, meaning)} {
        app_->add_option("--config", config_, "JSON file whose keys are the names of these flags, without --; a flag overrides it.")
            ->type_name("FILE");
    }
    declared_command(const declared_command&) = delete;  // CLI11 keeps pointers to what it fills
    declared_command& operator=(const declared_command&) = delete;

    /// A flag of this command, which is required unless it has a default. The text is valid after parsing.
    const std::string& text(const std::string& name, const std::string& value, const std::string& meaning,
                            const char* fallback = nullptr) {
        auto& target = texts_.emplace_back(fallback == nullptr ? "" : fallback);
        auto* option = app_->add_option(name, target, meaning)->type_name(value);
        if (fallback == nullptr) option->required();
        else option->default_str(fallback);
        return target;
    }
    /// A flag that may be given any number of times.
    const std::vector<std::string>& list(const std::string& name, const std::string& value, const std::string& meaning) {
        auto& target = lists_.emplace_back();
        app_->add_option(name, target, meaning)->type_name(value)->expected(1)->allow_extra_args(false)->multi_option_policy(
            CLI::MultiOptionPolicy::TakeAll);
        return target;
    }
    const bool& toggle(const std::string& name, const std::string& meaning) {
        auto& target = toggles_.emplace_back(false);
        app_->add_flag(name, target, meaning)->disable_flag_override();
        return target;
    }

    /// `--payload`, a JSON value, or `-` for the one on stdin: the system bounds an argument. A deprecated
    /// form has the value in `--data` instead, which may then be given twice: for the value and for the directory.
    void payload(const std::string& meaning) { payload_ = &text("--payload", "JSON", meaning, ""); }

    /// The JSON value, and the flag that it came from. Precondition: `payload` was declared, and chosen().
    [[nodiscard]] std::pair<std::string, std::string_view> json_payload() const {
        if (*payload_ == "-") return {read_stdin(tollgate::limits::event_data_bytes_max + 1), "--payload"};
        if (!payload_->empty()) return {*payload_, "--payload"};
        const auto& [json, rest] = split(texts_of("data"));
        if (!json) throw usage_error{"--payload is required (or JSON as --data, which is deprecated)."};
        for (const std::string& each : rest)
            if (tollgate::http::check_json(each))
                throw usage_error{"--data is given twice as JSON. To name such a directory, write './" + each + "'."};
        return {*json, "--data"};
    }

    /// Ends the declaration: adds the flags that the command shares with others, all of them or the minimum.
    void makes(std::function<command()> read, bool all_flags = false) {
        read_ = std::move(read);
        for (const flag& each : reference::all_flags())
            if (all_flags || is_shared_flag(each.name)) declare(each);
    }

    [[nodiscard]] bool chosen() const { return app_->parsed(); }

    /// Precondition: chosen().
    [[nodiscard]] invocation read() const {
        auto parsed = read_();
        return {read_settings(config_, given_flags()), std::move(parsed)};
    }

private:
    struct shared_flag {
        const reference::flag* flag;
        CLI::Option* option = nullptr;
        std::vector<std::string> texts;
        bool toggle = false;
    };

    void declare(const flag& which) {
        auto& into = shared_.emplace_back(shared_flag{&which, nullptr, {}, false});
        const auto name = std::string{"--"}.append(which.name);
        const std::string meaning{which.meaning};
        if (which.type == flag_type::toggle) {
            into.option = app_->add_flag(name, into.toggle, meaning)->disable_flag_override();
            return;
        }
        // One text each time; how often it may be given is checked below, as for every flag.
        into.option = app_->add_option(name, into.texts, meaning)
                          ->type_name(std::string{which.value})
                          ->expected(1)
                          ->allow_extra_args(false)
                          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
        if (!which.fallback.empty()) into.option->default_str(std::string{which.fallback});
    }

    [[nodiscard]] std::vector<given_flag> given_flags() const {
        std::vector<given_flag> flags;
        for (const shared_flag& each : shared_) {
            if (each.option->count() == 0) continue;
            const auto type = each.flag->type;
            if (each.flag->name == "data" && payload_ != nullptr && payload_->empty()) {
                auto rest = split(each.texts).second;
                if (rest.size() > 1) throw usage_error{"--data is given more than once in addition to the JSON."};
                if (!rest.empty()) flags.push_back({each.flag->name, std::move(rest)});
                continue;
            }
            if (each.texts.size() > 1 && type != flag_type::list)
                throw usage_error{each.option->get_name() + " is given more than once."};
            flags.push_back({each.flag->name, type == flag_type::toggle
                                                  ? std::vector<std::string>{each.toggle ? "true" : "false"}
                                                  : each.texts});
        }
        return flags;
    }

    [[nodiscard]] const std::vector<std::string>& texts_of(std::string_view name) const {
        return std::find_if(shared_.begin(), shared_.end(), [&](const auto& each) { return each.flag->name == name; })
            ->texts;
    }

    /// At most `bytes_max` bytes of stdin.
    static std::string read_stdin(std::size_t bytes_max) {
        std::string text(bytes_max, '\0');
        std::cin.read(text.data(), static_cast<std::streamsize>(bytes_max));
        text.resize(static_cast<std::size_t>(std::cin.gcount()));
        return text;
    }

    /// The first text that is JSON, and all others.
    static std::pair<std::optional<std::string>, std::vector<std::string>> split(std::vector<std::string> texts) {
        const auto json = std::find_if(texts.begin(), texts.end(),
                                       [](const auto& each) { return tollgate::http::check_json(each).has_value(); });
        if (json == texts.end()) return {std::nullopt, std::move(texts)};
        std::pair<std::optional<std::string>, std::vector<std::string>> found{std::move(*json), {}};
        texts.erase(json);
        found.second = std::move(texts);
        return found;
    }

    CLI::App* app_;
    std::string config_;
    const std::string* payload_ = nullptr;
    std::deque<shared_flag> shared_;
    std::deque<std::string> texts_;
    std::deque<std::vector<std::string>> lists_;
    std::deque<bool> toggles_;
    std::function<command()> read_;
};

}  // namespace reference
