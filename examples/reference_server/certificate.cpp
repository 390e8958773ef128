#include "certificate.hpp"

#include "data_directory.hpp"
#include "output.hpp"

#include <tollgate/base/time.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

namespace reference {

namespace {

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* held) const noexcept {
        Free(held);
    }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;

constexpr long day_seconds = 24 * 60 * 60;
constexpr long lifetime_days = 397;  // browsers refuse a longer lifetime
constexpr long renewal_days = 30;

run_error openssl_error(const std::string& message) {
    char text[256];
    ERR_error_string_n(ERR_get_error(), text, sizeof text);
    return run_error{message + ": " + text};
}

void require(bool done, const std::string& message) {
    if (!done) throw openssl_error(message);
}

void add_extension(X509* to, int id, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, to, to, nullptr, nullptr, 0);
    const extension_ptr extension{X509V3_EXT_conf_nid(nullptr, &context, id, value)};
    require(extension && X509_add_ext(to, extension.get(), -1) == 1, "cannot create a certificate");
}

void set_random_serial(X509* certificate) {
    unsigned char bytes[16];  // CA/Browser Forum: at least 64 random bits
    require(RAND_bytes(bytes, sizeof bytes) == 1, "no random bytes");
    bytes[0] &= 0x7f;  // positive
    const std::unique_ptr<BIGNUM, freed_by<BN_free>> number{BN_bin2bn(bytes, sizeof bytes, nullptr)};
    require(number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr,
            "cannot create a certificate");
}

certificate_ptr make_certificate(EVP_PKEY* key) {
    certificate_ptr certificate{X509_new()};
    require(certificate && X509_set_version(certificate.get(), X509_VERSION_3) == 1, "cannot create a certificate");
    set_random_serial(certificate.get());
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -day_seconds);  // a client's clock may be behind
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), lifetime_days * day_seconds);
    X509_NAME* name = X509_get_subject_name(certificate.get());
    const auto* common_name = reinterpret_cast<const unsigned char*>("localhost");
    require(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
                X509_set_issuer_name(certificate.get(), name) == 1 && X509_set_pubkey(certificate.get(), key) == 1,
            "cannot create a certificate");
    // No certificate authority: clients that trust this file trust this server, and nobody who has its key can vouch for other hosts.
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE");
    add_extension(certificate.get(), NID_key_usage, "critical,digitalSignature");
    add_extension(certificate.get(), NID_ext_key_usage, "serverAuth");
    add_extension(certificate.get(), NID_subject_key_identifier, "hash");
    add_extension(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1");
    require(X509_sign(certificate.get(), key, EVP_sha256()) != 0, "cannot sign a certificate");
    return certificate;
}

template <class Write>
std::string to_pem(Write&& write) {
    const bio_ptr memory{BIO_new(BIO_s_mem())};
    require(memory && write(memory.get()) == 1, "cannot write PEM");
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &bytes);
    return {bytes, static_cast<std::size_t>(size)};
}

struct certificate_pair {
    certificate_ptr certificate;
    key_ptr key;
};

/// The contents of the two files; null if one is missing or cannot be read. An encrypted key is refused without a prompt.
certificate_pair read_pair(const certificate_files& files) {
    const auto open = [](const std::optional<std::string>& text) {
        return bio_ptr{text ? BIO_new_mem_buf(text->data(), static_cast<int>(text->size())) : BIO_new(BIO_s_mem())};
    };
    const auto refuse_password = [](char*, int, int, void*) { return -1; };
    certificate_pair read{
        certificate_ptr{PEM_read_bio_X509(open(read_small_file(files.certificate)).get(), nullptr, nullptr, nullptr)},
        key_ptr{PEM_read_bio_PrivateKey(open(read_small_file(files.key)).get(), nullptr, refuse_password, nullptr)}};
    ERR_clear_error();
    return read;
}

bool fits(const certificate_pair& read) {
    const bool good = X509_check_private_key(read.certificate.get(), read.key.get()) == 1;
    ERR_clear_error();
    return good;
}

/// Whether the two files hold a certificate and its key, it is no certificate authority, as those of earlier versions were, and it does not
/// expire soon.
bool still_good(const certificate_files& files) {
    const auto read = read_pair(files);
    std::time_t renewal = std::time(nullptr) + renewal_days * day_seconds;
    return read.certificate && read.key && fits(read) && X509_check_ca(read.certificate.get()) == 0 &&
           X509_cmp_time(X509_get0_notAfter(read.certificate.get()), &renewal) > 0;
}

}  // namespace

certificate_files self_signed_certificate(const std::filesystem::path& directory) {
    const directory_lock alone{directory};
    auto files = self_signed_files(directory);
    if (still_good(files)) return files;
    const key_ptr key{EVP_EC_gen("P-256")};
    require(key != nullptr, "cannot create a key");
    const certificate_ptr certificate = make_certificate(key.get());
    // The key first: a crash in between leaves a pair that does not match, which the next start replaces.
    write_private_file(files.key, to_pem([&key](BIO* to) {
                           return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
                       }));
    write_private_file(files.certificate,
                       to_pem([&certificate](BIO* to) { return PEM_write_bio_X509(to, certificate.get()); }));
    files.is_new = true;
    return files;
}

certificate_files self_signed_files(const std::filesystem::path& directory) {
    return {directory / "self-signed.crt", directory / "self-signed.key"};
}

tollgate::instant end_of(const certificate_files& files) {
    const auto read = read_pair(files);
    std::tm end{};
    if (!read.certificate || ASN1_TIME_to_tm(X509_get0_notAfter(read.certificate.get()), &end) != 1)
        throw openssl_error("cannot read the dates");
    return tollgate::from_unix_seconds(static_cast<std::int64_t>(::timegm(&end)));
}

std::string expiry_of(const certificate_files& files) {
    const auto read = read_pair(files);
    const auto expect = [](bool is_good, const std::filesystem::path& file, const char* what) {
        std::error_code error;
        if (is_good) return;
        const bool is_missing = !std::filesystem::exists(file, error) && !error;
        throw run_error{is_missing ? "there is no file '" + file.string() + "'." : "'" + file.string() + "' is not a " + what + "."};
    };
    expect(read.certificate != nullptr, files.certificate, "PEM certificate");
    expect(read.key != nullptr, files.key, "PEM private key without a password");
    if (!fits(read)) throw run_error{"'" + files.key.string() + "' is not the key of '" + files.certificate.string() + "'."};
    std::time_t now = std::time(nullptr);
    std::string text{tollgate::to_iso8601(end_of(files)).view()};
    if (X509_cmp_time(X509_get0_notAfter(read.certificate.get()), &now) <= 0)
        throw run_error{"'" + files.certificate.string() + "' expired at " + text + "."};
    if (X509_cmp_time(X509_get0_notBefore(read.certificate.get()), &now) > 0)
        throw run_error{"'" + files.certificate.string() + "' is not valid yet."};
    return text;
}

}  // namespace reference
