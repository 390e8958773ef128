#pragma once

#include <tollgate/base/detail/system/kind.hpp>

#include <cstdlib>
#include <string>
#include <utility>

namespace tollgate_test {

/// Sets a variable of the environment, which had no value, until the end of the scope.
class environment_variable {
public:
    environment_variable(std::string name, const std::string& value) : name_{std::move(name)} { set(value); }
    environment_variable(const environment_variable&) = delete;
    environment_variable& operator=(const environment_variable&) = delete;
    ~environment_variable() { set({}); }

private:
    void set(const std::string& value) const {
#if defined(TOLLGATE_SYSTEM_WINDOWS)
        ::_putenv_s(name_.c_str(), value.c_str());  // removes it if the value is empty
#else
        if (value.empty()) ::unsetenv(name_.c_str());
        else ::setenv(name_.c_str(), value.c_str(), 1);
#endif
    }

    const std::string name_;
};

}  // namespace tollgate_test
