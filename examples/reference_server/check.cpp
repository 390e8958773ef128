#include "check.hpp"

#include "certificate.hpp"
#include "data_directory.hpp"
#include "output.hpp"

#include <tollgate/server/tls.hpp>

#if defined(TOLLGATE_WITH_REDIS)
#include <tollgate/limits/redis_limiter.hpp>
#endif

#include <string_view>

namespace reference {

using nlohmann::ordered_json;

void check_report::add(const std::string& part, const std::function<ordered_json()>& look) {
    try {
        parts_[part] = look();
    } catch (const failure& fault) {
        const std::string_view reason = fault.what();
        faults_.append(faults_.empty() ? "" : " ");
        if (!reason.starts_with("--")) faults_.append(part).append(": ");  // otherwise it begins with the flag
        faults_.append(reason);
    }
}

ordered_json check_report::finish() const {
    if (!faults_.empty()) throw run_error{faults_};
    return parts_;
}

ordered_json check_certificate(const settings& settings) {
    if (settings.plain) return nullptr;
    const bool configured = !settings.tls_cert.empty();
    const certificate_files files =
        configured ? certificate_files{settings.tls_cert, settings.tls_key} : self_signed_files(settings.data);
    tollgate::tls_settings tls{.ticket_key_file = settings.tls_ticket_keys.string()};
    const auto check = [&tls] {
        if (const auto read = tollgate::check_tls(tls); !read) throw run_error{read.error().log_text()};
    };
    // `serve` creates a self-signed certificate if there is none, and replaces one that is no longer valid.
    if (!configured && !file_exists(files.certificate, "--data")) {
        if (!tls.ticket_key_file.empty()) check();
        return {{"file", files.certificate.string()}, {"made", false}};
    }
    const auto expires_at = expiry_of(files);
    tls.certificate_file = files.certificate.string();
    tls.key_file = files.key.string();
    check();
    return {{"file", files.certificate.string()}, {"expires_at", expires_at}};
}

void check_keys_of(const tollgate::secret_keys& keys, const std::vector<std::string>& secrets) {
    // Without its webhook a secret cannot be decrypted; what matters is whether its key is known.
    for (const std::string& each : secrets)
        if (const auto tried = keys.decrypt(each, {}); !tried && tried.error().kind == tollgate::error_kind::unavailable)
            throw run_error{"--secret-key-file: " + tried.error().cause + "."};
}

ordered_json check_limits(const settings& settings) {
    if (settings.limits_url.empty()) return "memory";
#if defined(TOLLGATE_WITH_REDIS)
    std::string reason;
    tollgate::redis_limiter_settings redis_settings;
    redis_settings.authorities_file = settings.limits_ca.string();
    redis_settings.on_state = [&reason](bool, std::string_view state) { reason = state; };
    auto opened = tollgate::redis_limiter::open(settings.limits_url, redis_settings);
    if (!opened) throw usage_error{"--limits, --limits-ca: " + opened.error().log_text()};
    if (!opened->try_now()) throw run_error{reason.empty() ? "Redis does not respond." : reason + "."};
#endif
    return "redis";
}

ordered_json check_schema(const tollgate::schema_status& found) {
    if (found.version == 0) throw run_error{"it contains no Tollgate tables."};
    if (!found.is_usable)
        throw run_error{"the tables are of version " + std::to_string(found.version) +
                        ", made by a later release; this release supports versions up to " + std::to_string(found.newest) + "."};
    if (!found.missing.empty()) throw run_error{"the table or index " + found.missing + " is missing."};
    return {{"version", found.version}, {"newest", found.newest}};
}

}  // namespace reference
