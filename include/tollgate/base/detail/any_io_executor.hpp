#pragma once
#ifndef TOLLGATE_BASE_DETAIL_ANY_IO_EXECUTOR_HPP
#define TOLLGATE_BASE_DETAIL_ANY_IO_EXECUTOR_HPP

/// Declares `asio::any_io_executor`, for headers that do not include Asio. With `TOLLGATE_BOOST_ASIO`, defined for the whole program,
/// Boost.Asio takes the place of standalone Asio: in the library, `asio` names it.

#if defined(TOLLGATE_BOOST_ASIO)

#include <boost/asio/any_io_executor.hpp>  // an alias, which cannot be declared

namespace tollgate::inline v0 {
namespace asio = boost::asio;
}

#else

namespace asio {

#if defined(ASIO_USE_TS_EXECUTOR_AS_DEFAULT)
class executor;
typedef executor any_io_executor;
#else
class any_io_executor;
#endif

}  // namespace asio

#endif

#endif  // TOLLGATE_BASE_DETAIL_ANY_IO_EXECUTOR_HPP
