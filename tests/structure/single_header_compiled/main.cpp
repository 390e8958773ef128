#include <tollgate/tollgate.hpp>

int main() { return tollgate::ip_address::parse("::1").has_value() ? 0 : 1; }
