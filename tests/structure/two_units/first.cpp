#include <tollgate/tollgate.hpp>

const char* version_of_second();

// Both units hold every body that a header-only program compiles: the linker complains about one that is not inline.
int main() {
    return tollgate::ip_address::parse("::1").has_value() && version_of_second()[0] == TOLLGATE_VERSION[0] ? 0 : 1;
}
