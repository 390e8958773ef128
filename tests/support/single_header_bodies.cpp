#define TOLLGATE_SOURCE
#include <tollgate/tollgate.hpp>
