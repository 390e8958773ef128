/* Preloaded before libcrypto: scrypt at a thousandth of its cost. Tests sign in hundreds of times, and few are about that cost. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef int scrypt(const char*, size_t, const unsigned char*, size_t, uint64_t, uint64_t, uint64_t, uint64_t, unsigned char*, size_t);

int EVP_PBE_scrypt(const char* password, size_t password_size, const unsigned char* salt, size_t salt_size, uint64_t n, uint64_t r,
                   uint64_t p, uint64_t memory_max, unsigned char* key, size_t key_size) {
    scrypt* const original = (scrypt*)dlsym(RTLD_NEXT, "EVP_PBE_scrypt");
    if (original == NULL) abort();
    (void)n;
    (void)r;
    (void)p;
    return original(password, password_size, salt, salt_size, 16, 8, 1, memory_max, key, key_size);
}
