#include <tollgate/oauth/detail/client_metadata.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <variant>

using namespace tollgate;
using oauth::client_metadata;
using oauth::error_code;
using oauth::failure;
using oauth::metadata_source;

namespace {

service_catalog catalog() {
    service_catalog services;
    static_cast<void>(services.add("shop", {}));
    return services;
}

std::variant<client_metadata, failure> read(const std::string& json, metadata_source source = metadata_source::registration) {
    return oauth::read_client_metadata(*http::parse_json_object(json), catalog(), source);
}

/// The error code of a refusal, or an empty text.
std::string code_of(const std::string& json, metadata_source source = metadata_source::registration) {
    const auto outcome = read(json, source);
    const auto* refused = std::get_if<failure>(&outcome);
    return refused == nullptr ? std::string{} : std::string{to_text(refused->code)};
}

constexpr auto redirect = R"("redirect_uris":["https://a.example/cb"])";
std::string with(const std::string& member) { return std::string{"{"} + redirect + (member.empty() ? "" : ",") + member + "}"; }

}  // namespace

TEST_CASE("a registration has the defaults of RFC 7591", "[oauth][registration]") {
    const auto found = std::get<client_metadata>(read(with("")));
    CHECK(found.name == "a.example");
    CHECK(found.website.empty());
    CHECK(found.redirect_urls == std::vector<std::string>{"https://a.example/cb"});
    CHECK(found.type == client_type::confidential);
    CHECK(found.auth_method == "client_secret_basic");
    CHECK(found.default_scopes.empty());
}

TEST_CASE("a document describes a public client", "[oauth][registration]") {
    const auto found = std::get<client_metadata>(read(with(R"("client_name":"Agent","scope":"openid shop:read user:balance email")"),
                                                      metadata_source::document));
    CHECK(found.name == "Agent");
    CHECK(found.type == client_type::public_client);
    CHECK(found.auth_method == "none");
    CHECK(found.default_scopes.text() == "shop:read user:balance");
}

TEST_CASE("metadata that could not work is refused", "[oauth][registration]") {
    struct row {
        const char* member;
        const char* registration;  ///< the error codes
        const char* document;
    };
    for (const auto& [member, registration, document] : {
             row{R"("token_endpoint_auth_method":"none")", "", ""},
             row{R"("token_endpoint_auth_method":"client_secret_post")", "", "invalid_client_metadata"},
             row{R"("token_endpoint_auth_method":"client_secret_basic")", "", "invalid_client_metadata"},
             row{R"("token_endpoint_auth_method":"private_key_jwt")", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("token_endpoint_auth_method":7)", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("client_secret":"s")", "", "invalid_client_metadata"},
             row{R"("grant_types":["authorization_code","refresh_token"],"response_types":["code"])", "", ""},
             row{R"("grant_types":null)", "", ""},
             row{R"("grant_types":["refresh_token"])", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("grant_types":["authorization_code",1])", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("grant_types":"authorization_code")", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("response_types":["token"])", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("client_name":"A\u0007")", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("client_name":["A"])", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("client_uri":"https://a.example/")", "", ""},
             row{R"("client_uri":"a.example")", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("client_uri":"http://a.example")", "invalid_client_metadata", "invalid_client_metadata"},
             row{R"("logo_uri":3,"contacts":[1],"jwks":{}, "software_id":"x")", "", ""},
         }) {
        CAPTURE(member);
        CHECK(code_of(with(member)) == registration);
        CHECK(code_of(with(member), metadata_source::document) == document);
    }
}

TEST_CASE("redirect URLs follow the rules for applications", "[oauth][registration]") {
    struct row {
        const char* urls;
        bool confidential;
        bool is_public;
    };
    for (const auto& [urls, confidential, is_public] : {
             row{R"(["https://a.example/cb","http://127.0.0.1/cb","http://localhost:33/cb"])", true, true},
             row{R"(["com.example.app:/cb"])", false, true},
             row{R"(["app:/cb"])", false, false},
             row{R"(["http://a.example/cb"])", false, false},
             row{R"(["https://a.example/cb#f"])", false, false},
             row{R"(["https://a.example/cb?code=1"])", false, false},
             row{R"x(["javascript:alert(1)"])x", false, false},
             row{"[]", false, false},
             row{R"(["https://a.example/cb",7])", false, false},
             row{R"("https://a.example/cb")", false, false},
             row{"null", false, false},
         }) {
        CAPTURE(urls);
        const auto json = std::string{R"({"redirect_uris":)"} + urls;
        const auto expected = [](bool accepted) { return accepted ? "" : "invalid_redirect_uri"; };
        CHECK(code_of(json + "}") == expected(confidential));
        CHECK(code_of(json + R"(,"token_endpoint_auth_method":"none"})") == expected(is_public));
    }
    CHECK(code_of("{}") == "invalid_redirect_uri");
}
