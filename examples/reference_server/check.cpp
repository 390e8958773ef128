#include "check.hpp"

#include "certificate.hpp"
#include "data_directory.hpp"
#include "failure.hpp"

#include <tollgate/server/server.hpp>

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
        faults_.append(faults_.empty() ? "" : " ").append(part).append(": ").append(fault.what());
    }
}

ordered_json check_report::finish() const {
    if (!faults_.empty()) throw run_error{faults_};
    return parts_;
}

ordered_json check_certificate(const settings& with) {
    if (with.plain) return nullptr;
    const bool given = !with.tls_cert.empty();
    const certificate_files files =
        given ? certificate_files{with.tls_cert, with.tls_key} : self_signed_files(with.data);
    // `serve` creates a self-signed certificate if there is none, and replaces one that is no longer valid.
    if (!given && !std::filesystem::exists(files.certificate)) return {{"file", files.certificate.string()}, {"made", false}};
    const auto expires_at = expiry_of(files);
    const auto read = tollgate::server::check_tls({.certificate_file = files.certificate.string(),
                                                   .key_file = files.key.string(),
                                                   .ticket_key_file = with.tls_ticket_keys.string()});
    if (!read) throw run_error{read.error().message};
    return {{"file", files.certificate.string()}, {"expires_at", expires_at}};
}

ordered_json check_secret_keys(const settings& with) {
    if (with.secret_key_file.empty()) return nullptr;
    static_cast<void>(read_secret_keys(with.secret_key_file));
    return {{"file", with.secret_key_file.string()}};
}

void check_keys_of(const settings& with, const std::vector<std::string>& secrets) {
    if (secrets.empty()) return;
    const auto keys = read_secret_keys(with.secret_key_file);
    // Without its webhook a secret cannot be decrypted; what matters is whether its key is known.
    for (const std::string& each : secrets)
        if (const auto tried = keys.decrypt(each, {}); !tried && tried.error().kind == tollgate::error_kind::unavailable)
            throw run_error{"--secret-key-file: " + tried.error().cause + "."};
}

ordered_json check_limits(const settings& with) {
    if (with.limits_url.empty()) return "memory";
#if defined(TOLLGATE_WITH_REDIS)
    std::string why;
    tollgate::redis_limiter_settings wanted;
    wanted.connections_max = 1;
    wanted.authorities_file = with.limits_ca.string();
    wanted.on_state = [&why](bool, std::string_view what) { why = what; };
    auto opened = tollgate::redis_limiter::open(with.limits_url, wanted);
    if (!opened) throw usage_error{"--limits, --limits-ca: " + opened.error().message};
    if (!opened->try_now()) throw run_error{why.empty() ? "Redis does not respond." : why + "."};
#endif
    return "redis";
}

ordered_json check_schema(const tollgate::schema_status& found) {
    if (found.version == 0) throw run_error{"there are no tables of a store."};
    if (found.version > found.newest)
        throw run_error{"the tables are of version " + std::to_string(found.version) +
                        ", made by a later release; this release supports versions up to " + std::to_string(found.newest) + "."};
    return {{"version", found.version}, {"newest", found.newest}};
}

}  // namespace reference
