#pragma once
#ifndef TOLLGATE_SERVER_TLS_IPP
#define TOLLGATE_SERVER_TLS_IPP

#include <tollgate/base/detail/openssl_error.hpp>
#include <tollgate/base/detail/system/files.hpp>
#include <tollgate/base/secret.hpp>
#include <tollgate/base/system_sources.hpp>
#include <tollgate/server/detail/ticket_keys.hpp>
#include <tollgate/server/detail/tls_stream.hpp>
#include <tollgate/server/tls.hpp>

#include <openssl/aes.h>
#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tollgate::inline v0 {

namespace server_detail {

/// A BIO over a `tls_wire`, which is its data during each call of OpenSSL.
struct wire_bio {
    static int read(BIO* bio, char* to, int bytes_max) noexcept {
        BIO_clear_retry_flags(bio);
        auto& wire = *static_cast<tls_wire*>(BIO_get_data(bio));
        const std::size_t bytes = (std::min)(static_cast<std::size_t>(bytes_max), wire.end - wire.begin);
        if (bytes == 0) {
            BIO_set_retry_read(bio);
            return -1;
        }
        std::memcpy(to, wire.input.data() + wire.begin, bytes);
        wire.begin += bytes;
        return static_cast<int>(bytes);
    }

    static int write(BIO* bio, const char* from, int bytes) noexcept {
        BIO_clear_retry_flags(bio);
        auto& wire = *static_cast<tls_wire*>(BIO_get_data(bio));
        try {
            wire.output.append(from, static_cast<std::size_t>(bytes));
        } catch (const std::bad_alloc&) {
            return -1;  // no retry flag: OpenSSL treats the connection as broken
        }
        return bytes;
    }

    static long control(BIO*, int command, long, void*) noexcept { return command == BIO_CTRL_FLUSH ? 1 : 0; }

    static int create(BIO* bio) noexcept {
        BIO_set_init(bio, 1);
        return 1;
    }
};

/// RFC 7301 section 3.2: a client that offers only other protocols gets a fatal alert.
inline int select_http_1(SSL*, const unsigned char** out, unsigned char* out_bytes, const unsigned char* offered,
                         unsigned offered_bytes, void*) noexcept {
    for (const std::string_view ours : {"http/1.1", "http/1.0"}) {
        for (unsigned at = 0; at < offered_bytes; at += 1U + offered[at]) {
            const std::string_view name{reinterpret_cast<const char*>(offered) + at + 1, offered[at]};
            if (name != ours) continue;
            *out = offered + at + 1;
            *out_bytes = offered[at];
            return SSL_TLSEXT_ERR_OK;
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// Gives OpenSSL the key of a session ticket, and the MAC its digest. Returns 1, 2 (decrypted, but issue a new ticket), 0 (no
/// ticket, or one that cannot be decrypted: a full handshake follows) or -1.
inline int use_ticket_key(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac,
                          int encrypts) noexcept {
    auto& keys = *static_cast<ticket_keys*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    const auto start = [&](ticket_key& key) {
        OSSL_PARAM parameters[] = {OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key.mac_key.data(), key.mac_key.size()),
                                   OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, const_cast<char*>("SHA256"), 0),
                                   OSSL_PARAM_construct_end()};
        return EVP_MAC_CTX_set_params(mac, parameters) == 1 &&
               EVP_CipherInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.cipher_key.data(), iv, encrypts) == 1;
    };
    try {
        const auto now = std::chrono::steady_clock::now();
        if (encrypts != 0) {
            const system_random random;
            auto key = keys.newest(now, random);
            if (!key || !random.fill(std::as_writable_bytes(std::span{iv, static_cast<std::size_t>(AES_BLOCK_SIZE)}))) return 0;
            std::copy(key->name.begin(), key->name.end(), name);
            return start(*key) ? 1 : -1;
        }
        auto found = keys.find(std::span<const unsigned char, 16>{name, 16}, now);
        if (!found) return 0;
        if (!start(found->key)) return -1;
        return found->is_newest ? 1 : 2;
    } catch (...) {
        return -1;  // out of memory, or OpenSSL without SHA-256
    }
}

/// The content of a file or of a shell's pipe, `<(command)`. The error says what is wrong, without the file's name.
inline result<std::string> read_file(const std::string& file, std::size_t bytes_max) {
    std::string text(bytes_max + 1, '\0');
    std::size_t bytes = 0;
    const int failed = tollgate::detail::read_into(file, text.data(), text.size(), bytes);
    text.resize(bytes);
    if (failed != 0) return invalid(std::generic_category().message(failed));
    if (text.empty()) return invalid("it is empty");
    if (text.size() > bytes_max) return invalid("it is too long");
    return text;
}

/// A server cannot prompt for a pass phrase: an empty one makes an encrypted key fail with a clear error.
inline int no_pass_phrase(char*, int, int, void*) noexcept { return 0; }

/// The first certificate is the leaf; the following certificates form the chain to an authority. Returns the reason of a failure, or an
/// empty text.
inline std::string use_chain(SSL_CTX* context, BIO* from) {
    X509* const leaf = PEM_read_bio_X509_AUX(from, nullptr, &no_pass_phrase, nullptr);
    if (leaf == nullptr) return "it is not a PEM certificate";
    const bool used = SSL_CTX_use_certificate(context, leaf) == 1;
    X509_free(leaf);
    if (!used) return tollgate::detail::take_openssl_error();
    while (X509* const issuer = PEM_read_bio_X509(from, nullptr, &no_pass_phrase, nullptr)) {
        if (SSL_CTX_add0_chain_cert(context, issuer) == 1) continue;
        X509_free(issuer);
        return tollgate::detail::take_openssl_error();
    }
    const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    return at_end ? std::string{} : tollgate::detail::take_openssl_error();
}

/// Uses the key of the leaf certificate. Returns the reason of a failure, or an empty text.
inline std::string use_key(SSL_CTX* context, BIO* from) {
    EVP_PKEY* const key = PEM_read_bio_PrivateKey(from, nullptr, &no_pass_phrase, nullptr);
    if (key == nullptr) return "it is not a PEM private key without a pass phrase";
    const bool used = SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1;
    EVP_PKEY_free(key);
    return used ? "" : "it is not the key of the certificate";
}

/// Kept until the process ends: OpenSSL has only 127 numbers for types of BIOs, and does not reuse them. Throws `std::bad_alloc` if the
/// first call has no memory.
inline const BIO_METHOD* wire_bio_method() {
    static const BIO_METHOD* const made = [] {
        BIO_METHOD* const method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tollgate wire");
        if (method == nullptr) throw std::bad_alloc{};
        BIO_meth_set_read(method, &wire_bio::read);
        BIO_meth_set_write(method, &wire_bio::write);
        BIO_meth_set_ctrl(method, &wire_bio::control);
        BIO_meth_set_create(method, &wire_bio::create);
        return method;
    }();
    return made;
}

inline result<std::shared_ptr<ticket_keys>> read_ticket_keys(const std::string& file) {
    const auto wrong = [&file](const std::string& reason) {
        return invalid("The TLS ticket keys (" + file + ") cannot be used: " + reason + ".");
    };
    constexpr std::size_t file_bytes_max = 4096;  // four times as long as its keys can be
    const auto text = read_file(file, file_bytes_max);
    if (!text) return wrong(text.error().message);
    auto keys = ticket_keys::parse(*text);
    if (!keys) return wrong(keys.error().message);
    return keys;
}

/// Returns the result of `make`, or the error of its exception.
template <class Make>
result<std::shared_ptr<const tls_context>> no_throw(const Make& make) noexcept {
    try {
        return make();
    } catch (const std::exception& failed) {
        return exception_error("the TLS context", failed.what());
    }
}

class openssl_stream final : public tls_stream {
public:
    /// Throws `std::bad_alloc`.
    openssl_stream(SSL_CTX* context, std::shared_ptr<ticket_keys> tickets) : tickets_{std::move(tickets)}, ssl_{SSL_new(context)} {
        BIO* const transport = ssl_ == nullptr ? nullptr : BIO_new(wire_bio_method());
        if (transport == nullptr) {
            SSL_free(ssl_);
            throw std::bad_alloc{};
        }
        SSL_set_bio(ssl_, transport, transport);
        SSL_set_accept_state(ssl_);
    }
    ~openssl_stream() override { SSL_free(ssl_); }

    tls_step handshake(tls_wire& wire) override {
        use(wire);
        const int returned = SSL_do_handshake(ssl_);
        if (returned != 1) return failure(returned);
        handshake_done_ = true;
        return tls_step::done;
    }

    reading read(tls_wire& wire, std::span<char> into) override {
        use(wire);
        std::size_t bytes = 0;
        const int returned = SSL_read_ex(ssl_, into.data(), into.size(), &bytes);
        if (returned == 1) return {tls_step::done, bytes};
        return {failure(returned), 0};
    }

    [[nodiscard]] bool has_input(const tls_wire& wire) const noexcept override {
        return wire.begin != wire.end || SSL_pending(ssl_) > 0;
    }

    bool write(tls_wire& wire, std::string_view plain) override {
        if (broken_) return false;
        use(wire);
        while (!plain.empty()) {
            std::size_t bytes = 0;
            const int returned = SSL_write_ex(ssl_, plain.data(), plain.size(), &bytes);
            if (returned != 1) {
                (void)failure(returned);
                broken_ = true;
                return false;
            }
            plain.remove_prefix(bytes);
        }
        return true;
    }

    void release_buffers() noexcept override {
        // Versions of OpenSSL before 3.0.14 free them while they are in use (CVE-2024-4741). RH: the next is the header of a record.
        if (SSL_pending(ssl_) == 0 && std::string_view{SSL_rstate_string(ssl_)} == "RH") SSL_free_buffers(ssl_);
    }

    void close_notify(tls_wire& wire) noexcept override {
        if (broken_ || !handshake_done_) return;
        use(wire);
        if (SSL_shutdown(ssl_) < 0) ERR_clear_error();
    }

private:
    /// Before every call: clears earlier errors of other code on this thread, which would be attributed to this connection.
    void use(tls_wire& wire) noexcept {
        BIO_set_data(SSL_get_rbio(ssl_), &wire);
        if (ERR_peek_error() != 0) ERR_clear_error();
    }

    tls_step failure(int returned) noexcept {
        switch (SSL_get_error(ssl_, returned)) {
            case SSL_ERROR_WANT_READ: return tls_step::wants_bytes;
            case SSL_ERROR_ZERO_RETURN: ended_ = true; return tls_step::closed;
            default: break;
        }
        const bool plain_http = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
        ERR_clear_error();
        broken_ = true;
        return plain_http ? tls_step::plain_http : tls_step::failed;
    }

    const std::shared_ptr<ticket_keys> tickets_;  // the keys that `ssl_` uses
    SSL* const ssl_;
    bool broken_ = false;
};

class openssl_context final : public tls_context {
public:
    openssl_context(const tls_settings& settings, std::shared_ptr<ticket_keys> tickets)
        : settings_{settings}, tickets_{std::move(tickets)} {
        if (context_ == nullptr) throw std::bad_alloc{};
        SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
        SSL_CTX_set_options(context_, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                            SSL_OP_PRIORITIZE_CHACHA);
        // The write buffer may move, because a batch is encrypted completely before anything else is written.
        SSL_CTX_set_mode(context_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        // Sessions are resumed by tickets, which clients keep; a cache here would grow with their number. One ticket is
        // enough: a client opens few connections at once.
        SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_num_tickets(context_, 1);
        SSL_CTX_set_timeout(context_, std::chrono::seconds{ticket_keys::lifetime}.count());
        SSL_CTX_set_app_data(context_, tickets_.get());
        SSL_CTX_set_tlsext_ticket_key_evp_cb(context_, &use_ticket_key);
        SSL_CTX_set_dh_auto(context_, 1);  // for a list of ciphers with DHE; the default list has none
        SSL_CTX_set_alpn_select_cb(context_, &select_http_1, nullptr);
    }
    ~openssl_context() override { SSL_CTX_free(context_); }

    [[nodiscard]] std::unique_ptr<tls_stream> new_stream() const override {
        return std::make_unique<openssl_stream>(context_, tickets_);
    }

    static result<std::shared_ptr<const tls_context>> load(const tls_settings& settings) {
        return no_throw([&]() -> result<std::shared_ptr<const tls_context>> {
            if (settings.ticket_key_file.empty()) return make(settings, std::make_shared<ticket_keys>());
            auto tickets = read_ticket_keys(settings.ticket_key_file);
            if (!tickets) return std::move(tickets).error();
            return make(settings, *std::move(tickets));
        });
    }

    [[nodiscard]] result<std::shared_ptr<const tls_context>> reload(std::string& warning) const override {
        return no_throw([&] {
            auto tickets = tickets_;
            if (!settings_.ticket_key_file.empty()) {
                auto read = read_ticket_keys(settings_.ticket_key_file);
                if (read) tickets = *std::move(read);
                else warning = read.error().message + " The former keys remain in use.";
            }
            return make(settings_, std::move(tickets));
        });
    }

private:
    static result<std::shared_ptr<const tls_context>> make(const tls_settings& settings, std::shared_ptr<ticket_keys> tickets) {
        static_cast<void>(wire_bio_method());  // here, where memory may be missing
        ERR_clear_error();
        auto made = std::make_shared<openssl_context>(settings, std::move(tickets));
        // Forward secrecy and authenticated encryption (RFC 9325 section 4.2).
        const std::string ciphers = settings.tls12_ciphers.empty() ? "ECDHE+AESGCM:ECDHE+CHACHA20" : settings.tls12_ciphers;
        if (SSL_CTX_set_cipher_list(made->context_, ciphers.c_str()) != 1)
            return invalid("The TLS 1.2 ciphers (" + ciphers + ") cannot be used: " + tollgate::detail::take_openssl_error() + ".");
        if (auto used = made->use("certificate", settings.certificate_file, settings.certificate_pem, &use_chain); !used)
            return std::move(used).error();
        if (auto used = made->use("key", settings.key_file, settings.key_pem, &use_key); !used) return std::move(used).error();
        return std::shared_ptr<const tls_context>{std::move(made)};
    }

    /// Takes a part of the settings from its file or its text.
    result<void> use(std::string_view part, const std::string& file, const std::string& content, std::string (*take)(SSL_CTX*, BIO*)) {
        constexpr std::size_t file_bytes_max = 1 << 20;  // hundreds of certificates; a device file never ends
        const auto wrong = [&](const std::string& reason) {
            const std::string place = file.empty() ? "given as text" : file;
            return invalid("The TLS " + std::string{part} + " (" + place + ") cannot be used: " + reason + ".");
        };
        if (file.empty() && content.empty()) return invalid("The TLS settings have no " + std::string{part} + ".");
        if (!file.empty() && !content.empty()) return wrong("it is given as text, too");
        auto text = file.empty() ? result<std::string>{content} : read_file(file, file_bytes_max);
        if (!text) return wrong(text.error().message);
        BIO* const source = BIO_new_mem_buf(text->data(), static_cast<int>(text->size()));
        const std::string reason = source == nullptr ? "out of memory" : take(context_, source);
        BIO_free(source);
        secure_wipe(*text);
        ERR_clear_error();
        if (!reason.empty()) return wrong(reason);
        return {};
    }

    const tls_settings settings_;
    const std::shared_ptr<ticket_keys> tickets_;
    SSL_CTX* const context_ = SSL_CTX_new(TLS_server_method());
};

}  // namespace server_detail

TOLLGATE_COLD tls_source tls_from(tls_settings settings) {
    return [settings = std::move(settings)] { return server_detail::openssl_context::load(settings); };
}

TOLLGATE_COLD result<void> check_tls(const tls_settings& settings) {
    const bool only_tickets = settings.certificate_file.empty() && settings.key_file.empty() && settings.certificate_pem.empty() &&
                              settings.key_pem.empty() && !settings.ticket_key_file.empty();
    if (only_tickets) {
        const auto keys = server_detail::read_ticket_keys(settings.ticket_key_file);
        return keys ? result<void>{} : keys.error();
    }
    const auto context = server_detail::openssl_context::load(settings);
    return context ? result<void>{} : context.error();
}

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_TLS_IPP
