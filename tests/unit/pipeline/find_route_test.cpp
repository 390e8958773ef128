#include <tollgate/pipeline/detail/find_route.hpp>

#include <catch2/catch.hpp>

using namespace tollgate;

TEST_CASE("a path is below a root by whole segments", "[pipeline][find_route]") {
    CHECK(pipeline::below("/v1", "/v1/user/balance") == "/user/balance");
    CHECK(pipeline::below("", "/user/balance") == "/user/balance");
    CHECK(pipeline::below("/v1", "/v1/") == "/");
    for (const char* path : {"/v1", "/v10/user", "/V1/user", "/v2/user", "/", "", "*"}) CHECK(pipeline::below("/v1", path).empty());
}
