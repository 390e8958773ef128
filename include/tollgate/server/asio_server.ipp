#pragma once
#ifndef TOLLGATE_SERVER_ASIO_SERVER_IPP
#define TOLLGATE_SERVER_ASIO_SERVER_IPP

#include <tollgate/server/asio_server.hpp>
#include <tollgate/server/detail/asio_loop_group.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tollgate::inline v0 {

TOLLGATE_COLD server::server(const asio::any_io_executor& executor, http::handler_ref handler, server_settings settings)
    : server{handler, std::move(settings), [executor](const auto& context, std::size_t loops) {
                 using namespace server_detail;
                 using io_executor = asio::io_context::executor_type;
                 // Most callers have an io_context: using its executor type directly avoids a type-erased call per
                 // wait.
                 const auto* const known = held_executor<io_executor>(executor);
                 return known != nullptr ? std::unique_ptr<event_loop_group>{std::make_unique<asio_loop_group<io_executor>>(
                                               context, std::vector<io_executor>(loops, *known))}
                                         : std::make_unique<asio_loop_group<asio::any_io_executor>>(
                                               context, std::vector<asio::any_io_executor>(loops, executor));
             }} {}

#if defined(TOLLGATE_SERVER_ASIO)
TOLLGATE_COLD server::server(http::handler_ref handler, server_settings settings)
    : server{handler, std::move(settings), [](const auto& context, std::size_t loops) {
                 return std::make_unique<server_detail::asio_thread_group>(context, loops);
             }} {}
#endif

}  // namespace tollgate

#endif  // TOLLGATE_SERVER_ASIO_SERVER_IPP
