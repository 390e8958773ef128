#pragma once

#include "text_values.hpp"

#include <tollgate/model/service_catalog.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

/// The two products of the specification, with the events to which hooks can subscribe.
[[nodiscard]] tollgate::service_catalog reference_services();

enum class log_form { text, json, off };

/// Where the store is: `sqlite:tollgate.db`, `memory:`, `postgres:...`.
struct location {
    enum class kind { memory, sqlite, postgres } kind = kind::memory;
    std::filesystem::path file = {};     ///< of `sqlite`
    std::string connection_string = {};  ///< of `postgres`; never shown, because it may contain a password
};

/// Everything that flags and the configuration file can say, checked. See `tollgate-server serve --help`. The defaults are
/// those of the flags.
struct settings {
    std::filesystem::path data = "./tollgate-data";
    std::optional<location> store;  ///< none: a SQLite file in `data`; see `store_location`
    std::size_t store_connections{};
    tollgate::seconds cached_for{};  ///< how long credentials, balances and quotas of PostgreSQL are cached
    std::string limits_url;  ///< empty: in memory; never shown, because it may contain a password
    std::filesystem::path limits_ca;  ///< empty: the system's authorities
    std::vector<listen_address> listen;
    std::optional<listen_address> admin_listen;  ///< none: no listener for operators
    std::vector<std::string> admin_hosts;  ///< names of the listener for operators
    std::filesystem::path tls_cert;  ///< empty, like `tls_key`: a self-signed one in `data`
    std::filesystem::path tls_key;
    std::filesystem::path tls_ticket_keys;  ///< empty: random keys of this process
    bool plain = false;
    unsigned threads = 0;  ///< 0: one per core
    std::string base_url;  ///< empty: from `listen`
    std::string auth_url;  ///< empty: from `listen`
    std::string cookie_name;  ///< empty: from `auth_url`
    std::vector<tollgate::ip_network> trusted_proxies;
    tollgate::forwarding_field client_named_by{};
    std::vector<std::string> cors_origins;  ///< as given; empty: any, `none` alone: CORS is off
    tollgate::quota anonymous_limit;
    tollgate::quota user_limit;
    tollgate::seconds access_token_lifetime{};
    bool client_documents = false;      ///< applications are known by the URL of a document
    std::string dynamic_registration;  ///< `open`, or the file of an initial access token; empty: off
    std::filesystem::path secret_key_file;  ///< empty: webhook secrets are stored in plain text
    bool allow_private_targets = false;
    bool accept_imported_tokens = false;
    std::vector<tollgate::milliseconds> webhook_retry;
    std::size_t webhook_minute_limit{};  ///< 0: no bound
    std::size_t header_bytes_max{};
    std::size_t body_bytes_max{};
    tollgate::milliseconds header_timeout{};
    tollgate::milliseconds idle_timeout{};
    std::size_t connections_max{};
    tollgate::seconds shutdown_grace{};
    bool demo = false;
    log_form log = log_form::text;

    [[nodiscard]] location store_location() const {
        return store.value_or(location{location::kind::sqlite, data / "tollgate.db"});
    }
};

/// The JSON type that a flag has in the configuration file.
enum class flag_type {
    text,    ///< a string; on the command line, the word after the flag
    number,  ///< a whole number
    list,    ///< an array of strings; on the command line, the flag may be repeated
    toggle,  ///< true or false; on the command line, present or not
};

enum class reading {
    taken,
    misfit,        ///< the text is not what the flag expects
    missing_part,  ///< it names a component that is not in this build
};

/// One flag, which is also a key of the configuration file.
struct flag {
    std::string_view name;      ///< without the dashes
    std::string_view value;     ///< the name of its value in `--help`
    std::string_view fallback;  ///< the default as text; empty if it is not a text that `read` accepts
    std::string_view meaning;
    std::string_view expects;  ///< ends the sentence "'x' is not ..."; empty for a number, whose bounds do
    flag_type type = flag_type::text;
    reading (*read)(std::string_view text, settings& into);
    std::uint64_t min = 0;  ///< of a number
    std::uint64_t max = 0;
};

/// Every flag of `serve`, except `--config` itself.
[[nodiscard]] std::span<const flag> all_flags();

/// Those that the administrative commands have too.
[[nodiscard]] bool is_shared_flag(std::string_view name);

/// The values of one flag, as written; a toggle is `true` or `false`.
struct given_flag {
    std::string_view name;
    std::vector<std::string> texts;
};

/// The command line wins over the configuration file (if its path is not empty), and that over the defaults. Then checks
/// combinations. Throws a `usage_error` that names the flag or the key.
[[nodiscard]] settings read_settings(const std::filesystem::path& config_file,
                                     std::span<const given_flag> command_line);

}  // namespace reference
