#include "imports.hpp"

#include "output.hpp"
#include "text_values.hpp"

#include <tollgate/base/secret.hpp>
#include <tollgate/http/json_body.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

namespace reference {

using namespace tollgate;

namespace {

constexpr std::size_t faults_shown_max = 10;

/// Why a line is not a record.
struct line_fault : std::runtime_error {
    using runtime_error::runtime_error;
};

/// The object of a line. Its texts are overwritten at the end, because some are secrets.
class record {
public:
    record(std::string_view line, std::initializer_list<std::string_view> known) {
        auto parsed = http::parse_json_object(line);
        if (!parsed) throw line_fault{"not a JSON object: " + parsed.error().message};
        for (const http::json_member& each : *parsed) {
            if (std::find(known.begin(), known.end(), each.name) == known.end()) {
                std::string names;
                for (const auto name : known) names.append(names.empty() ? "" : ", ").append(name);
                throw line_fault{"a member is not one of " + names + "."};
            }
            members_.push_back(each);
        }
    }
    record(const record&) = delete;
    record& operator=(const record&) = delete;
    ~record() {
        for (auto& each : members_) secure_wipe(each.value);
    }

    [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const {
        const auto* found = find(name);
        if (found == nullptr) return std::nullopt;
        if (found->kind != http::json_kind::text) throw line_fault{std::string{name} + " is not a string."};
        return found->value;
    }
    [[nodiscard]] std::string_view required_text(std::string_view name) const {
        const auto found = text(name);
        if (!found) throw line_fault{std::string{name} + " is missing."};
        return *found;
    }
    template <class Id>
    [[nodiscard]] Id required_id(std::string_view name) const {
        const auto* found = find(name);
        if (found == nullptr) throw line_fault{std::string{name} + " is missing."};
        const auto id = found->kind == http::json_kind::integer ? Id::parse(found->value) : std::nullopt;
        if (!id) throw line_fault{std::string{name} + " is not an id (a whole number, at least 1)."};
        return *id;
    }
    [[nodiscard]] std::optional<instant> time(std::string_view name) const {
        const auto found = text(name);
        if (!found) return std::nullopt;
        const auto at = parse_iso8601(*found);
        if (!at) throw line_fault{std::string{name} + " is not a time such as 2026-11-28T10:00:00Z."};
        return *at;
    }

private:
    /// Null for a member that is missing or null.
    [[nodiscard]] const http::json_member* find(std::string_view name) const {
        const auto found = std::find_if(members_.begin(), members_.end(), [name](const auto& each) { return each.name == name; });
        return found == members_.end() || found->kind == http::json_kind::null ? nullptr : &*found;
    }

    std::vector<http::json_member> members_;
};

std::optional<digest> parse_digest(std::string_view text) {
    std::array<std::uint8_t, digest::size_bytes> bytes{};
    if (text.size() != 2 * bytes.size()) return std::nullopt;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char* const end = text.data() + 2 * i + 2;
        if (std::from_chars(end - 2, end, bytes[i], 16).ptr != end) return std::nullopt;
    }
    return digest::from_bytes(bytes);
}

digest read_digest(const record& from) {
    const auto secret = from.text("secret"), sha256_text = from.text("secret_sha256");
    if (secret.has_value() == sha256_text.has_value()) throw line_fault{"either secret or secret_sha256 is required."};
    if (secret && (secret->empty() || secret->size() > limits::imported_secret_bytes_max))
        throw line_fault{"secret is not a text of 1 to " + std::to_string(limits::imported_secret_bytes_max) + " bytes."};
    if (secret) return digest_of(*secret);
    const auto value = parse_digest(*sha256_text);
    if (!value) throw line_fault{"secret_sha256 is not 64 hexadecimal digits."};
    return *value;
}

new_personal_token read_token(std::string_view line, const service_catalog& services, instant now) {
    const record from{line, {"user", "username", "secret", "secret_sha256", "scopes", "description", "created_at", "expires_at"}};
    const auto username = token_username::from(from.required_text("username"));
    if (!username) throw line_fault{"username is longer than " + std::to_string(limits::token_username_bytes_max) + " bytes."};
    const auto scopes = scope_set::parse(from.required_text("scopes"));
    if (!scopes || scopes->empty() || !scopes->for_each([&services](std::string_view scope) { return services.has_scope(scope); }))
        throw line_fault{"scopes is not a list of scopes of this server, such as user:balance,sitesmaker:read."};
    return {.user = from.required_id<user_id>("user"),
            .username = *username,
            .secret_digest = read_digest(from),
            .description = std::string{from.text("description").value_or("")},
            .scopes = *scopes,
            .created_at = from.time("created_at").value_or(now),
            .expires_at = from.time("expires_at")};
}

new_hook read_hook(std::string_view line, instant now) {
    const record from{line, {"service", "account", "event", "target_url", "secret", "created_at"}};
    const auto service = service_name::from(from.required_text("service"));
    if (!service) throw line_fault{"service is not a service of this server."};
    return {.account = {*service, from.required_id<account_id>("account")},
            .event = std::string{from.required_text("event")},
            .source = hook_source::manual,
            .target_url = std::string{from.required_text("target_url")},
            .secret = std::string{from.required_text("secret")},
            .created_at = from.time("created_at").value_or(now)};
}

/// Calls `read(text)` for each line that is not blank, and keeps what it returns.
template <class Row, class Read>
std::vector<import_line<Row>> read_lines(const std::filesystem::path& file, import_faults& faults, Read&& read) {
    std::ifstream opened;
    if (file != "-") {
        opened.open(file, std::ios::binary);
        if (!opened) throw run_error{"--file: cannot read '" + to_quotable(file.string()) + "'."};
    }
    std::istream& in = file == "-" ? std::cin : opened;

    std::vector<import_line<Row>> rows;
    std::vector<char> buffer(import_line_bytes_max + 1);  // with a NUL at the end
    std::size_t number = 0;
    while (in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size())) || in.gcount() > 0) {
        ++number;
        if (in.fail()) throw run_error{"--file: line " + std::to_string(number) + " is longer than 16 KiB; nothing was imported."};
        if (number > import_lines_max) throw run_error{"--file: more than 100000 lines; split the file. Nothing was imported."};
        const auto bytes = static_cast<std::size_t>(in.gcount()) - (in.eof() ? 0U : 1U);
        const std::string_view text{buffer.data(), bytes};
        if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        try {
            rows.push_back({number, read(text)});
        } catch (const line_fault& fault) {
            faults.add(number, fault.what());
        }
    }
    const bool was_read = in.eof() && !in.bad();
    secure_wipe(std::as_writable_bytes(std::span{buffer}));
    if (!was_read) throw run_error{"--file: cannot read '" + to_quotable(file.string()) + "'; nothing was imported."};
    return rows;
}

static_assert(import_line_bytes_max == 16 * 1024 && import_lines_max == 100'000, "the messages name the bounds");

}  // namespace

void import_faults::add(std::size_t line, std::string_view sentence) {
    if (++count_ <= faults_shown_max) text_.append(" Line ").append(std::to_string(line)).append(": ").append(sentence);
}

void import_faults::throw_if_any() const {
    if (count_ == 0) return;
    throw run_error{"--file: nothing was imported." + text_ +
                    (count_ > faults_shown_max ? " And " + std::to_string(count_ - faults_shown_max) + " more." : "")};
}

std::vector<import_line<new_personal_token>> read_token_import(const std::filesystem::path& file, const service_catalog& services,
                                                               instant now, import_faults& faults) {
    return read_lines<new_personal_token>(file, faults, [&](std::string_view line) { return read_token(line, services, now); });
}

std::vector<import_line<new_hook>> read_hook_import(const std::filesystem::path& file, instant now, import_faults& faults) {
    return read_lines<new_hook>(file, faults, [now](std::string_view line) { return read_hook(line, now); });
}

}  // namespace reference
