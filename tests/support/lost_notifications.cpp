// Preloaded: every third notification of one waiting thread is lost, which happens rarely with glibc before 2.41 (its bug 25847).

#include <pthread.h>

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>

extern "C" int pthread_cond_signal(pthread_cond_t* condition) noexcept {
    static std::atomic<unsigned> calls = 0;
    const auto original = reinterpret_cast<int (*)(pthread_cond_t*)>(::dlsym(RTLD_NEXT, "pthread_cond_signal"));
    if (original == nullptr) std::abort();
    return ++calls % 3 == 0 ? 0 : original(condition);
}
