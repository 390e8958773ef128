#pragma once
#ifndef TOLLGATE_BASE_DETAIL_ANY_IO_EXECUTOR_HPP
#define TOLLGATE_BASE_DETAIL_ANY_IO_EXECUTOR_HPP

/// Declares `asio::any_io_executor`, for headers that do not include Asio.
namespace asio {

#if defined(ASIO_USE_TS_EXECUTOR_AS_DEFAULT)
class executor;
typedef executor any_io_executor;
#else
class any_io_executor;
#endif

}  // namespace asio

#endif  // TOLLGATE_BASE_DETAIL_ANY_IO_EXECUTOR_HPP
