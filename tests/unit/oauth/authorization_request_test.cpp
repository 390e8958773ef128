#include <tollgate/oauth/detail/authorization_request.hpp>

#include <tollgate/base/detail/encoding.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

using namespace tollgate;
using oauth::authorization_request;
using oauth::parameters;

namespace {

application registered() {
    return {application_id{1}, user_id{1}, *client_id_text::from("tgi_app"), {}, "App", "https://app.example", "", {"https://app.example/cb"}, {}};
}

service_catalog catalog() {
    service_catalog services;
    static_cast<void>(services.add("sitesmaker", {}));
    return services;
}

authorization_request judge(const std::string& query) {
    const auto parsed = std::get<parameters>(parameters::from_form(query));
    return std::get<authorization_request>(oauth::judge_request_of(registered(), parsed, catalog()));
}

}  // namespace

TEST_CASE("a request survives the round trip through a query", "[oauth][request]") {
    for (const char* state : {"", "&state=a%20b", "&state=%0D%0A%25", "&state=%01&redirect_uri=https%3A%2F%2Fapp.example%2Fcb",
                              "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"}) {
        CAPTURE(state);
        const auto request = judge(std::string{"client_id=tgi_app&response_type=code&scope=user:balance,,sitesmaker&ignored=1"} + state);
        const auto again = judge(oauth::to_query(request));
        CHECK(oauth::to_query(again) == oauth::to_query(request));
        CHECK(again.state == request.state);
        CHECK(again.redirect_uri == request.redirect_uri);
        CHECK(again.code_challenge == request.code_challenge);
        CHECK(again.scopes.text() == "user:balance sitesmaker");
    }
}

TEST_CASE("an encoded state that a form cannot send is ignored", "[oauth][request]") {
    const std::string base = "client_id=tgi_app&response_type=code&scope=user:balance";
    CHECK(judge(base + "&encoded_state=%250A%25C3%25A4").state == "\n\xc3\xa4");
    for (const char* state : {"a%25ad", "%25C3", "%25", "%25zz"}) {
        CAPTURE(state);
        CHECK_FALSE(judge(base + "&encoded_state=" + state).state);
    }
}

TEST_CASE("different requests have different queries", "[oauth][request]") {
    const std::string base = "client_id=tgi_app&response_type=code&scope=user:balance";
    std::vector<std::string> all;
    for (const char* more : {"", "&state=a", "&state=b", "&redirect_uri=https%3A%2F%2Fapp.example%2Fcb", "&state=%0A", "&state=%250A",
                             "&state=a%26code_challenge%3Dx"})
        all.push_back(oauth::to_query(judge(base + more)));
    all.push_back(oauth::to_query(judge("client_id=tgi_app&response_type=code&scope=user:balance,sitesmaker")));
    std::sort(all.begin(), all.end());
    CHECK(std::unique(all.begin(), all.end()) == all.end());
}

TEST_CASE("client_id must be unique and bounded", "[oauth][request]") {
    const auto asking = [](std::string_view query) { return oauth::client_id_of(std::get<parameters>(parameters::from_form(query))); };
    CHECK(asking("client_id=a") == "a");
    CHECK_FALSE(asking(""));
    CHECK_FALSE(asking("client_id="));
    CHECK_FALSE(asking("client_id=a&client_id=a"));
    CHECK(asking("client_id=" + std::string(64, 'a')));
    CHECK_FALSE(asking("client_id=" + std::string(65, 'a')));
}
