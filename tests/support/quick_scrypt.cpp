// Preloaded before libcrypto: scrypt at less than a thousandth of its cost. Tests sign in hundreds of times, and few are about that cost.

#include <openssl/evp.h>

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int EVP_PBE_scrypt(const char* password, std::size_t password_size, const unsigned char* salt, std::size_t salt_size,
                              std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t memory_max, unsigned char* key,
                              std::size_t key_size) {
    const auto original = reinterpret_cast<decltype(&EVP_PBE_scrypt)>(::dlsym(RTLD_NEXT, "EVP_PBE_scrypt"));
    if (original == nullptr) std::abort();
    return original(password, password_size, salt, salt_size, 16, 8, 1, memory_max, key, key_size);
}
