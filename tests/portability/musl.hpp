#pragma once

// GCC's C++ library of Debian is made for glibc. Included before all else, this lets its headers be compiled with those of musl.
#include <ctype.h>
#include <locale.h>
#include <pthread.h>
#include <time.h>

#define __GLIBC_PREREQ(major, minor) 0
// Otherwise the headers take a missing name of glibc for a program without threads, and std::mutex does nothing.
#define _GLIBCXX_GTHREAD_USE_WEAK 0
#define __locale_t locale_t

// The bits of the table that `__ctype_b_loc` returns, which musl has as well.
enum {
    _ISblank = 0x1, _IScntrl = 0x2, _ISpunct = 0x4, _ISalnum = 0x8, _ISupper = 0x100, _ISlower = 0x200, _ISalpha = 0x400, _ISdigit = 0x800,
    _ISxdigit = 0x1000, _ISspace = 0x2000, _ISprint = 0x4000, _ISgraph = 0x8000
};

// musl waits for CLOCK_MONOTONIC only if the object was made so. A wait for another clock is a short wait, after which the caller looks
// again at its condition and its clock.
inline int pthread_cond_clockwait(pthread_cond_t* one, pthread_mutex_t* held, clockid_t, const timespec*) {
    timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 5'000'000;
    if (soon.tv_nsec >= 1'000'000'000) soon.tv_nsec -= 1'000'000'000, ++soon.tv_sec;
    return pthread_cond_timedwait(one, held, &soon);
}
inline int pthread_mutex_clocklock(pthread_mutex_t* one, clockid_t, const timespec*) { return pthread_mutex_lock(one); }
inline int pthread_rwlock_clockrdlock(pthread_rwlock_t* one, clockid_t, const timespec*) { return pthread_rwlock_rdlock(one); }
inline int pthread_rwlock_clockwrlock(pthread_rwlock_t* one, clockid_t, const timespec*) { return pthread_rwlock_wrlock(one); }
