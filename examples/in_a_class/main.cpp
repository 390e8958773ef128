// An application that holds Tollgate as members of a class. The program starts it, sends it one request, and returns 0 if the response is
// right.
#include "shop_app.hpp"

#include <iostream>

using namespace tollgate;

int main() {
    shop_app app{""};
    if (const auto started = app.start(); !started) return report(started.error());
    const auto authorization = app.new_token(user_id{1});
    if (!authorization) return report(authorization.error());

    http::request request;
    request.target = http::target::from("/v1/user/balance");
    request.fields.add("User-Agent", "in_a_class");
    request.fields.add("Authorization", *authorization);
    const auto response = app.handle(request);
    std::cout << "Port " << app.port() << ": " << response.body() << '\n';
    return response.body() == R"({"id":1,"balance":12.50,"currency":"EUR"})" ? 0 : 1;
}
