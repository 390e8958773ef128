#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <string>
#include <string_view>

namespace tollgate_test {

/// A new self-signed certificate and its key, in PEM.
struct certificate {
    std::string certificate_pem;
    std::string key_pem;
    std::string locked_key_pem;  ///< the same key, encrypted with the pass phrase "secret"
};

enum class key_kind { ecdsa, rsa };

/// `alternative_name` as OpenSSL writes it: `DNS:example.com`, `IP:127.0.0.1`.
inline certificate make_certificate(std::string_view common_name, const std::string& alternative_name = {},
                                    key_kind kind = key_kind::ecdsa, long starts_in_seconds = -60, long ends_in_seconds = 24 * 60 * 60) {
    EVP_PKEY* const key = kind == key_kind::rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
    X509* const x509 = X509_new();
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), starts_in_seconds);
    X509_gmtime_adj(X509_getm_notAfter(x509), ends_in_seconds);
    X509_set_pubkey(x509, key);
    X509_NAME* const name = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(common_name.data()),
                               static_cast<int>(common_name.size()), -1, 0);
    X509_set_issuer_name(x509, name);
    if (!alternative_name.empty()) {
        X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, alternative_name.c_str());
        X509_add_ext(x509, extension, -1);
        X509_EXTENSION_free(extension);
    }
    X509_sign(x509, key, EVP_sha256());

    const auto text_of = [](auto write) {
        BIO* const memory = BIO_new(BIO_s_mem());
        write(memory);
        char* data = nullptr;
        const long bytes = BIO_get_mem_data(memory, &data);
        std::string text{data, static_cast<std::size_t>(bytes)};
        BIO_free(memory);
        return text;
    };
    certificate both;
    both.certificate_pem = text_of([&](BIO* to) { PEM_write_bio_X509(to, x509); });
    both.key_pem = text_of([&](BIO* to) { PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr); });
    both.locked_key_pem = text_of([&](BIO* to) {
        PEM_write_bio_PrivateKey(to, key, EVP_aes_256_cbc(), reinterpret_cast<const unsigned char*>("secret"), 6, nullptr, nullptr);
    });
    X509_free(x509);
    EVP_PKEY_free(key);
    return both;
}

}  // namespace tollgate_test
