// What Debian's C++ library, which is made for glibc, asks glibc for.
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>

namespace {

struct at_thread_exit {
    void (*function)(void*);
    void* object;
    at_thread_exit* next;
};

thread_local at_thread_exit* last = nullptr;

void run_all(void*) {
    while (at_thread_exit* const one = last) {
        last = one->next;
        one->function(one->object);
        free(one);
    }
}

pthread_key_t key_of_exits() {
    static const pthread_key_t key = [] {
        pthread_key_t made{};
        pthread_key_create(&made, &run_all);
        return made;
    }();
    return key;
}

}  // namespace

extern "C" {

char __libc_single_threaded = 0;

unsigned arc4random() {
    unsigned number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number) abort();
    return number;
}

int _dl_find_object(void*, void*) { return -1; }  // the unwinder then asks dl_iterate_phdr

int __cxa_thread_atexit_impl(void (*function)(void*), void* object, void*) {
    auto* const added = static_cast<at_thread_exit*>(malloc(sizeof(at_thread_exit)));
    if (added == nullptr) return -1;
    *added = {function, object, last};
    last = added;
    return pthread_setspecific(key_of_exits(), added);
}

}
