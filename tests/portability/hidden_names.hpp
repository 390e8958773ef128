#pragma once

// Included before all else, it makes the compiler refuse the names that only Linux has. The headers of others come first, because they may
// use the names.

#include <asio.hpp>
#include <asio/ssl.hpp>
#include <hiredis/hiredis.h>
#include <libpq-fe.h>
#include <nlohmann/json.hpp>
#include <openssl/ssl.h>
#include <sqlite3.h>

#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <any>
#include <array>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <thread>
#include <unordered_map>

#undef MSG_NOSIGNAL
#undef SOCK_CLOEXEC
#undef SOCK_NONBLOCK
#undef SIOCOUTQ
#undef SO_ATTACH_FILTER
#undef CLOCK_BOOTTIME
#undef TCP_QUICKACK
#undef TCP_DEFER_ACCEPT
#pragma GCC poison pipe2 accept4 SOCK_NONBLOCK SOCK_CLOEXEC MSG_NOSIGNAL CLOCK_BOOTTIME
#pragma GCC poison sigtimedwait sigwaitinfo epoll_create1 epoll_ctl epoll_wait eventfd timerfd_create signalfd inotify_init1 prctl memfd_create getrandom dup3
#pragma GCC poison SIOCOUTQ SO_ATTACH_FILTER sock_filter TCP_QUICKACK TCP_DEFER_ACCEPT
