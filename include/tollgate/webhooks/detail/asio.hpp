#pragma once
#ifndef TOLLGATE_WEBHOOKS_DETAIL_ASIO_HPP
#define TOLLGATE_WEBHOOKS_DETAIL_ASIO_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/any_io_executor.hpp>

/// What the dispatcher uses of Asio.
#if defined(TOLLGATE_BOOST_ASIO)
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#else
#include <asio/any_io_executor.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/ssl/context.hpp>
#include <asio/ssl/stream.hpp>
#include <asio/strand.hpp>
#include <asio/write.hpp>
#endif

namespace tollgate::inline v0::webhooks {

using asio_error = decltype(asio::error::make_error_code(asio::error::eof));

}  // namespace tollgate::webhooks

#endif  // TOLLGATE_WEBHOOKS_DETAIL_ASIO_HPP
