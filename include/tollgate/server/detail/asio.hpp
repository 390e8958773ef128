#pragma once
#ifndef TOLLGATE_SERVER_DETAIL_ASIO_HPP
#define TOLLGATE_SERVER_DETAIL_ASIO_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/base/detail/any_io_executor.hpp>

/// What the server uses of Asio.
#if defined(TOLLGATE_BOOST_ASIO)
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/basic_seq_packet_socket.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/seq_packet_protocol.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#else
#include <asio/any_io_executor.hpp>
#include <asio/basic_seq_packet_socket.hpp>
#include <asio/basic_stream_socket.hpp>
#include <asio/basic_waitable_timer.hpp>
#include <asio/error.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/generic/seq_packet_protocol.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#endif

namespace tollgate::inline v0::server_detail {

using asio_error = decltype(asio::error::make_error_code(asio::error::eof));

}  // namespace tollgate::server_detail

#endif  // TOLLGATE_SERVER_DETAIL_ASIO_HPP
