#include <tollgate/tollgate.hpp>

const char* version_of_second();

const char* version_of_second() {
    return tollgate::ip_address::parse("::1").has_value() ? TOLLGATE_VERSION : "";
}
