#pragma once

#include <tollgate/server/asio_server.hpp>
#include <tollgate/server/detail/guest_lanes.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace tollgate::inline v0 {

TOLLGATE_DECL server::server(const asio::any_io_executor& executor, http::handler_ref handler, server_settings settings)
    : server{handler, std::move(settings), [executor](const auto& of, std::size_t lanes) {
                 using namespace server_detail;
                 using io_executor = asio::io_context::executor_type;
                 // Nearly every guest has an io_context: its own executor spares each wait the way through a type-erased one.
                 const auto* const plain = executor.template target<io_executor>();
                 return plain != nullptr
                            ? std::unique_ptr<lane_group>{std::make_unique<guest_lanes<io_executor>>(of, lanes, *plain)}
                            : std::make_unique<guest_lanes<asio::any_io_executor>>(of, lanes, executor);
             }} {}

}  // namespace tollgate
