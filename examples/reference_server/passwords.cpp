#include "passwords.hpp"

#include "output.hpp"
#include "text_values.hpp"

#include <tollgate/base/secret.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

namespace reference {

namespace {

/// OWASP's password storage cheat sheet: N = 2^15, r = 8, p = 3 is worth N = 2^17, p = 1 at a quarter of the memory,
/// which matters where many people sign in at once.
struct cost {
    unsigned log2_n = 15;
    unsigned r = 8;
    unsigned p = 3;

    /// What EVP_PBE_scrypt counts against its bound (RFC 7914 section 6).
    [[nodiscard]] std::uint64_t memory_bytes() const {
        return std::uint64_t{128} * r * ((std::uint64_t{1} << log2_n) + p + 2);
    }

    friend bool operator==(const cost&, const cost&) = default;
};

constexpr std::size_t salt_bytes = 16;
constexpr std::size_t hash_bytes = 32;
constexpr std::uint64_t memory_bytes_max = 256 * 1024 * 1024;  // a hash in the database must not exhaust memory
constexpr std::string_view prefix = "$scrypt$";

using salt = std::array<unsigned char, salt_bytes>;
using hash = std::array<unsigned char, hash_bytes>;

bool derive(std::string_view password, const salt& hash_salt, const cost& at, hash& into) {
    return EVP_PBE_scrypt(password.data(), password.size(), hash_salt.data(), hash_salt.size(), std::uint64_t{1} << at.log2_n,
                          at.r, at.p, memory_bytes_max, into.data(), into.size()) == 1;
}

template <std::size_t Size>
std::string encode(const std::array<unsigned char, Size>& bytes) {
    std::string text(4 * ((Size + 2) / 3) + 1, '\0');  // OpenSSL appends a zero byte
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), static_cast<int>(Size));
    text.resize(static_cast<std::size_t>(size));
    text.erase(text.find_last_not_of('=') + 1);
    return text;
}

template <std::size_t Size>
std::optional<std::array<unsigned char, Size>> decode(std::string_view text) {
    constexpr std::size_t quads = (Size + 2) / 3;
    if (text.size() != (Size * 4 + 2) / 3) return std::nullopt;
    std::string padded{text};
    padded.resize(quads * 4, '=');
    std::array<unsigned char, quads * 3> decoded{};
    if (EVP_DecodeBlock(decoded.data(), reinterpret_cast<const unsigned char*>(padded.data()),
                        static_cast<int>(padded.size())) < 0)
        return std::nullopt;
    std::array<unsigned char, Size> bytes{};
    std::copy_n(decoded.begin(), Size, bytes.begin());
    return bytes;
}

/// The text before `end`, which is removed as well; none if there is no `end`.
std::optional<std::string_view> take_until(std::string_view& text, char end) {
    const auto at = text.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    const auto taken = text.substr(0, at);
    text.remove_prefix(at + 1);
    return taken;
}

std::optional<unsigned> parse_parameter(std::optional<std::string_view> text, std::string_view name, unsigned most) {
    if (!text || !text->starts_with(name)) return std::nullopt;
    const auto value = parse_whole_number(text->substr(name.size()), 1, most);
    return value ? std::optional{static_cast<unsigned>(*value)} : std::nullopt;
}

struct parsed_hash {
    cost at;
    salt hash_salt;
    hash expected;
};

std::optional<parsed_hash> parse(std::string_view text) {
    if (!text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    const auto log2_n = parse_parameter(take_until(text, ','), "ln=", 24);
    const auto r = parse_parameter(take_until(text, ','), "r=", 64);
    const auto p = parse_parameter(take_until(text, '$'), "p=", 64);
    const auto encoded_salt = take_until(text, '$');
    if (!log2_n || !r || !p || !encoded_salt) return std::nullopt;
    const auto hash_salt = decode<salt_bytes>(*encoded_salt);
    const auto expected = decode<hash_bytes>(text);
    if (!hash_salt || !expected) return std::nullopt;
    return parsed_hash{{*log2_n, *r, *p}, *hash_salt, *expected};
}

std::string to_text(const parsed_hash& parts) {
    return std::string{prefix} + "ln=" + std::to_string(parts.at.log2_n) + ",r=" + std::to_string(parts.at.r) +
           ",p=" + std::to_string(parts.at.p) + "$" + encode(parts.hash_salt) + "$" + encode(parts.expected);
}

}  // namespace

std::string normalize_password(std::string_view password) {
    utf8proc_uint8_t* composed = nullptr;
    const auto bytes = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(password.data()),
                                    static_cast<utf8proc_ssize_t>(password.size()), &composed,
                                    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    if (bytes == UTF8PROC_ERROR_NOMEM) throw run_error{"there is too little memory to hash a password."};
    if (bytes < 0) return std::string{password};
    std::string normalized{reinterpret_cast<const char*>(composed), static_cast<std::size_t>(bytes)};
    OPENSSL_cleanse(composed, static_cast<std::size_t>(bytes));
    std::free(composed);
    return normalized;
}

std::string hash_password(std::string_view password) {
    parsed_hash parts{};
    auto normalized = normalize_password(password);
    if (RAND_bytes(parts.hash_salt.data(), static_cast<int>(parts.hash_salt.size())) != 1)
        throw run_error{"OpenSSL returned no random bytes."};
    const bool derived = derive(normalized, parts.hash_salt, parts.at, parts.expected);
    tollgate::secure_wipe(normalized);
    if (!derived) throw run_error{"scrypt failed: there may be too little memory."};
    return to_text(parts);
}

password_check check_password(std::string_view password, std::string_view hash_text) {
    const auto parsed = parse(hash_text);
    if (!parsed || parsed->at.memory_bytes() > memory_bytes_max) return password_check::wrong;
    const auto check = [&](std::string_view text) {
        hash derived;
        if (!derive(text, parsed->hash_salt, parsed->at, derived)) return password_check::failed;
        const bool same = CRYPTO_memcmp(derived.data(), parsed->expected.data(), derived.size()) == 0;
        return same ? password_check::right : password_check::wrong;
    };
    auto normalized = normalize_password(password);
    const bool is_normal = normalized == password;
    auto checked = check(normalized);
    tollgate::secure_wipe(normalized);
    if (checked != password_check::wrong || is_normal) return checked;
    checked = check(password);
    return checked == password_check::right ? password_check::right_as_typed : checked;
}

bool is_outdated(std::string_view hash_text) {
    const auto parsed = parse(hash_text);
    return !parsed || parsed->at != cost{};
}

std::string decoy_hash() { return to_text(parsed_hash{}); }

tollgate::result<std::optional<tollgate::user_id>> user_passwords::check_password(std::string_view login, std::string_view password) {
    auto checked = check_password({.login = login, .password = password, .client = {}});
    if (!checked) return std::move(checked).error();
    return *checked ? std::optional{(*checked)->user} : std::nullopt;
}

tollgate::result<std::optional<tollgate::checked_password>> user_passwords::check_password(const tollgate::sign_in_attempt& attempt) {
    const auto& [login, password, client, is_known_browser] = attempt;
    const hash_limiter::permit permit{limiter_, {client, is_known_browser}};
    if (!permit.admitted()) return tollgate::unavailable("too many passwords are being checked");
    auto known = users_.find_login(login);
    if (!known) return std::move(known).error();
    try {
        const auto checked = reference::check_password(password, *known ? (*known)->password_hash : decoy_);
        if (checked == password_check::failed) return tollgate::unavailable("scrypt failed: there may be too little memory");
        if (checked == password_check::wrong || !*known) return std::optional<tollgate::checked_password>{};
        const bool is_outdated = checked == password_check::right_as_typed || reference::is_outdated((*known)->password_hash);
        if (is_outdated) renew(**known, password);
        return std::optional{tollgate::checked_password{(*known)->user, std::move((*known)->password_hash)}};
    } catch (const failure& failed) {
        return tollgate::unavailable(failed.what());
    }
}

tollgate::result<std::string> user_passwords::password_version(std::string_view login) {
    auto known = users_.find_login(login);
    if (!known) return std::move(known).error();
    return *known ? std::move((*known)->password_hash) : std::string{};
}

tollgate::result<void> user_passwords::set_password(const tollgate::checked_password& current, std::string_view password) {
    const hash_limiter::permit permit{limiter_, {{}, true}};
    if (!permit.admitted()) return tollgate::unavailable("too many passwords are being checked");
    try {
        auto done = users_.replace_password_hash(current.user, {current.version, hash_password(password)});
        if (!done && done.error().kind == tollgate::error_kind::not_found)
            return tollgate::error{tollgate::error_kind::conflict, "The password was changed.", {}};
        return done;
    } catch (const failure& failed) {
        return tollgate::unavailable(failed.what());
    }
}

void user_passwords::renew(known_login& known, std::string_view password) {
    try {
        auto hash = hash_password(password);
        if (users_.replace_password_hash(known.user, {known.password_hash, hash})) known.password_hash = std::move(hash);
    } catch (const failure&) {  // the old hash stays in use
    }
}

hash_bounds user_passwords::bounds() {
    // Hashing is bound by the cores. A waiting request occupies one of the 32 worker threads for sign-ins, so as many may wait as are
    // admitted within the timeout, at a tenth of a second per hash.
    const std::size_t cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
    const std::size_t waiting_max = cores == 1 ? 12 : 16;
    return {.running_max = cores, .waiting_max = waiting_max, .known_waiting_max = 4, .queue_wait_max = tollgate::seconds{2}};
}

}  // namespace reference
