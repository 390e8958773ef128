#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_WORKSPACE_HPP
#define TOLLGATE_SERVER_DETAIL_WORKSPACE_HPP

#include <tollgate/base/time.hpp>
#include <tollgate/server/detail/http1_session.hpp>
#include <tollgate/base/detail/system/page_buffer.hpp>
#include <tollgate/server/detail/tls_stream.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace tollgate::inline v0::server_detail {

using tollgate::detail::page_buffer;

/// The buffers that a connection needs while it has a message or a response: a few pages. Idle connections have none,
/// so thousands of them cost little, and a busy thread reuses the same few, which stay in its cache.
struct workspace {
    explicit workspace(const http::parser_settings& settings) : session{settings} {}

    http1_session session;
    tls_wire wire;
    http_date_text date;  ///< a copy for the worker, which must not read the loop's

    [[nodiscard]] bool empty() const noexcept { return session.empty() && wire.empty(); }

    static void* operator new(std::size_t bytes) { return page_buffer::allocate(bytes); }
    static void operator delete(void* data, std::size_t bytes) noexcept { page_buffer::release(data, bytes); }
};

/// The unused workspaces of one loop. Used by one thread at a time.
class workspace_pool {
public:
    explicit workspace_pool(const http::parser_settings& settings) : settings_{settings} {}

    /// Throws `std::bad_alloc`.
    [[nodiscard]] std::unique_ptr<workspace> take() {
        if (spare_count_ == 0) return std::make_unique<workspace>(settings_);
        auto one = std::move(spare_[--spare_count_]);
        fewest_ = (std::min)(fewest_, spare_count_);
        return one;
    }

    /// Frees an eighth of what was unused since the last call: the memory of a burst is returned within seconds, and a
    /// steady load keeps what it needs.
    void trim() noexcept {
        for (std::size_t i = (fewest_ + 7) / 8; i > 0; --i) spare_[--spare_count_].reset();
        fewest_ = spare_count_;
    }

    void give(std::unique_ptr<workspace> one) noexcept {
        if (spare_count_ == spare_.size()) return;  // beyond the bound, pages are returned to the system
        one->session.shrink();
        one->wire.output.clear();
        if (one->wire.output.capacity() > output_bytes_kept_max) one->wire.output.shrink_to_fit();
        one->wire.begin = one->wire.end = one->wire.sent = 0;
        spare_[spare_count_++] = std::move(one);
    }

private:
    static constexpr std::size_t kept_max = 256;  // the number that a busy loop has at workers; about 4 MiB
    static constexpr std::size_t output_bytes_kept_max = 64 * 1024;

    http::parser_settings settings_;
    std::array<std::unique_ptr<workspace>, kept_max> spare_;
    std::size_t spare_count_ = 0;
    std::size_t fewest_ = 0;  // unused at any time since the last trim
};

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_WORKSPACE_HPP
