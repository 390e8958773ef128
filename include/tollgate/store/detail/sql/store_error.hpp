#pragma once

#include <stdexcept>

namespace tollgate::inline v0 {

/// A store could not be opened; `what()` is for the operator, and names the file or the server.
class store_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace tollgate
