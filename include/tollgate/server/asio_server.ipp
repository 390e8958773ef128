#pragma once

#include <tollgate/server/asio_server.hpp>
#include <tollgate/server/detail/asio_loop_group.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL server::server(const asio::any_io_executor& executor, http::handler_ref handler, server_settings settings)
    : server{handler, std::move(settings), [executor](const auto& of, std::size_t loops) {
                 using namespace server_detail;
                 using io_executor = asio::io_context::executor_type;
                 // Nearly every caller has an io_context: its concrete executor avoids a type-erased call for each wait.
                 const auto* const plain = executor.template target<io_executor>();
                 return plain != nullptr
                            ? std::unique_ptr<event_loop_group>{std::make_unique<asio_loop_group<io_executor>>(of, loops, *plain)}
                            : std::make_unique<asio_loop_group<asio::any_io_executor>>(of, loops, executor);
             }} {}

}  // namespace tollgate
