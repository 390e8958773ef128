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
    return {application_id{1},     user_id{1}, *client_id_text::from("tgi_app"), {}, "App",
            "https://app.example", "",         {"https://app.example/cb"},       {}};
}

service_catalog catalog() {
    service_catalog services;
    static_cast<void>(services.add("sitesmaker", {}));
    return services;
}

oauth::resource_list resources() {
    account_service_settings settings{.base_url = "https://api.example/v1"};
    settings.oauth.resources = {"https://api.example/v1/mcp"};
    return oauth::resource_list{settings};
}

authorization_request judge(const std::string& query) {
    const auto parsed = std::get<parameters>(parameters::from_form(query));
    return std::get<authorization_request>(oauth::judge_request_of(registered(), parsed, catalog(), resources()));
}

/// The error code of the redirect, or an empty text.
std::string code_of(const application& client, const std::string& query) {
    const auto parsed = std::get<parameters>(parameters::from_form(query));
    const auto judged = oauth::judge_request_of(client, parsed, catalog(), resources());
    const auto* failed = std::get_if<oauth::redirect_failure>(&judged);
    return failed == nullptr ? std::string{} : std::string{to_text(failed->failure.code)};
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

TEST_CASE("resources are those that the server issues tokens for", "[oauth][request]") {
    const std::string base = "client_id=tgi_app&response_type=code&scope=user:balance";
    const std::string api = "&resource=https://api.example/v1", mcp = "&resource=https%3A%2F%2Fapi.example%2Fv1%2Fmcp";
    CHECK(judge(base).resources.empty());
    CHECK(judge(base + "&resource=").resources.empty());
    CHECK(judge(base + api).resources.size() == 1);
    CHECK(judge(base + api).resources.is_for(resource_id_of("https://api.example/v1")));
    CHECK(judge(base + api + "/").resources == judge(base + api).resources);
    CHECK(judge(base + "&resource=HTTPS://API.example:443/v1").resources == judge(base + api).resources);
    CHECK(judge(base + api + mcp + api).resources.size() == 2);
    CHECK(judge(base + mcp).resource_urls == std::vector<std::string>{"https://api.example/v1/mcp"});
    const auto again = judge(oauth::to_query(judge(base + mcp + api)));
    CHECK(again.resources.size() == 2);
    for (const char* unknown : {"https://api.example/v1/other", "https://api.example", "http://api.example/v1", "x", "https://api.example/v1#f",
                                "https://api.example/V1", "https://api.example/v1?a"}) {
        CAPTURE(unknown);
        CHECK(code_of(registered(), base + "&resource=" + unknown) == "invalid_target");
        CHECK(code_of(registered(), base + api + "&resource=" + unknown) == "invalid_target");
    }
}

TEST_CASE("an application that no user registered needs PKCE, and has scopes of its own", "[oauth][request]") {
    const std::string pkce = "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
    const std::string base = "client_id=tgi_app&response_type=code";
    for (const auto kind : {registration_kind::by_itself, registration_kind::metadata_document}) {
        auto client = registered();
        client.registration = kind;
        CHECK(code_of(client, base + "&scope=user:balance") == "invalid_request");
        CHECK(code_of(client, base + "&scope=user:balance" + pkce).empty());
        CHECK(code_of(client, base + pkce) == "invalid_request");
        client.default_scopes = *scope_set::parse("user:balance");
        CHECK(code_of(client, base + pkce).empty());
        CHECK(code_of(client, base + "&scope=sitesmaker" + pkce).empty());  // more than it registered
        CHECK(code_of(client, base + "&scope=other" + pkce) == "invalid_scope");
    }
    CHECK(code_of(registered(), base + "&scope=user:balance").empty());
    CHECK(code_of(registered(), base) == "invalid_request");
}

TEST_CASE("an encoded state that a form cannot send is ignored", "[oauth][request]") {
    const std::string base = "client_id=tgi_app&response_type=code&scope=user:balance";
    CHECK(judge(base + "&encoded_state=" + tollgate::detail::base64url_encode("\n\xc3\xa4")).state == "\n\xc3\xa4");
    for (const std::string& state :
         {tollgate::detail::base64url_encode("a\xad"), tollgate::detail::base64url_encode("\xc3"), std::string{"a"},
          std::string{"a%3D%3D%3D"}}) {
        CAPTURE(state);
        CHECK_FALSE(judge(base + "&encoded_state=" + state).state);
    }
}

TEST_CASE("a long state is encoded so that it is not much longer in the URL of a sign-in page", "[oauth][request]") {
    const std::string base = "client_id=tgi_app&response_type=code&scope=user:balance";
    struct row {
        std::string state;
        bool is_encoded;
    };
    for (const row& each : {row{std::string(2000, '"'), true}, row{std::string(2000, '%'), true}, row{std::string(2000, 'a'), false},
                            row{"{\"page\": 1}", false}, row{"\n", true}, row{std::string(1990, 'a') + "{}{}{}{}", false}}) {
        CAPTURE(each.state);
        const auto request = judge(base + "&state=" + tollgate::detail::percent_encode(each.state));
        CHECK(request.state == each.state);
        const auto query = oauth::to_query(request);
        CHECK((query.find("encoded_state=") != std::string::npos) == each.is_encoded);
        CHECK(judge(query).state == each.state);
        CHECK(tollgate::detail::percent_encode(query).size() < each.state.size() * 4 / 3 + 200);
        // A request that is refused keeps it, too.
        const auto sent = std::get<parameters>(
            parameters::from_form("response_type=token&state=" + tollgate::detail::percent_encode(each.state)));
        CHECK(oauth::to_query(sent) == "response_type=token&" + query.substr(query.find(each.is_encoded ? "encoded_state" : "state=")));
    }
    const auto sent = std::get<parameters>(parameters::from_form("a=%26&state=" + std::string(600, '+') + "&state=2&b="));
    CHECK(oauth::to_query(sent).starts_with("a=%26&state=%20%20"));
    CHECK(oauth::to_query(sent).ends_with("&state=2&b="));
}

TEST_CASE("prompts are read and written", "[oauth][request][prompt]") {
    using oauth::parse_prompts, oauth::prompt_set;
    CHECK(parse_prompts("none") == prompt_set{.none = true});
    CHECK(parse_prompts("consent login") == prompt_set{.login = true, .consent = true});
    CHECK(parse_prompts("login  login ") == prompt_set{.login = true});
    CHECK(parse_prompts("select_account") == prompt_set{.select_account = true});
    CHECK(parse_prompts("") == prompt_set{});
    for (const char* bad : {"none login", "create", "Login", "login,consent", "consent none", "login\t"}) {
        CAPTURE(bad);
        CHECK_FALSE(parse_prompts(bad));
    }
    for (const char* each : {"none", "login", "login consent", "login consent select_account", ""})
        CHECK(oauth::to_text(*parse_prompts(each)) == each);

    const std::string base = "client_id=tgi_app&response_type=code&scope=user:balance";
    const auto request = judge(base + "&prompt=consent+select_account&login_hint=ann%40shop.example");
    CHECK(judge(oauth::to_query(request)).prompt == prompt_set{.consent = true, .select_account = true});
    CHECK(judge(oauth::to_query(request)).login_hint == "ann@shop.example");
    CHECK_FALSE(judge(base + "&login_hint=" + std::string(255, 'a')).login_hint);
    CHECK_FALSE(judge(base + "&login_hint=a%0Ab").login_hint);
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
    CHECK_FALSE(asking("client_id=" + std::string(limits::client_id_bytes_max + 1, 'a')));
}
