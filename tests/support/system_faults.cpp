// Preloaded: faults of the system, each while a file of its name is in the directory that TOLLGATE_TEST_FAULTS names.
//
//   files    stat() of a SQLite file waits until the fault is removed, as on a file system that hangs
//   log      writing to standard error never returns, as on a disk that hangs
//   threads  no thread can be started
//   wakeups  every third notification of a waiting thread is lost; this happens rarely with glibc before 2.41 (its bug 25847)

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

bool is_caused(const char* fault) {
    const char* const directory = std::getenv("TOLLGATE_TEST_FAULTS");
    return directory != nullptr && ::access((std::string{directory} + "/" + fault).c_str(), F_OK) == 0;
}

template <class Function>
Function* original(const char* name) {
    auto* const found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
    if (found == nullptr) std::abort();
    return found;
}

}  // namespace

extern "C" int stat(const char* path, struct stat* found) noexcept {
    static auto* const real = original<int(const char*, struct stat*)>("stat");
    while (std::string_view{path}.find("tollgate.db") != std::string_view::npos && is_caused("files")) ::usleep(10'000);
    return real(path, found);
}

extern "C" ssize_t write(int descriptor, const void* bytes, std::size_t size) {
    static auto* const real = original<ssize_t(int, const void*, std::size_t)>("write");
    while (descriptor == STDERR_FILENO && is_caused("log")) ::pause();
    return real(descriptor, bytes, size);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) noexcept {
    static auto* const real = original<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    return is_caused("threads") ? EAGAIN : real(thread, attributes, run, argument);
}

extern "C" int pthread_cond_signal(pthread_cond_t* condition) noexcept {
    static auto* const real = original<int(pthread_cond_t*)>("pthread_cond_signal");
    static std::atomic<unsigned> calls = 0;
    return is_caused("wakeups") && ++calls % 3 == 0 ? 0 : real(condition);
}
