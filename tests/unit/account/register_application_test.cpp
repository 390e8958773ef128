#include <tollgate/account/register_application.hpp>

#include <catch2/catch.hpp>
#include <support/fakes.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tollgate;
using tollgate_test::counting_random;

namespace {

constexpr instant noon = from_unix_seconds(1'700'000'000);

/// A store with only the function that registration needs.
struct few_applications {
    std::vector<new_application> created;
    std::optional<error> failure;

    result<application_id> create_application(const new_application& one, std::size_t applications_per_user_max) {
        if (failure) return *failure;
        if (created.size() == applications_per_user_max) return invalid("too many");
        created.push_back(one);
        return application_id{static_cast<std::int64_t>(created.size())};
    }
    result<std::optional<application>> find_application(std::string_view) { return std::optional<application>{}; }
    result<std::vector<application>> applications_of(user_id) { return std::vector<application>{}; }
    result<bool> change_application(const std::optional<user_id>&, application_id, const application_change&) { return false; }
    result<bool> delete_application(user_id, application_id) { return false; }
};

struct registry {
    few_applications store;
    std::uint64_t entropy = 0;
    bool random_works = true;

    auto add(application_request request, std::size_t max = limits::applications_per_user_max) {
        return register_application(store, std::move(request), noon, counting_random{&entropy, &random_works}, max);
    }
};

application_request sample_request() { return {user_id{7}, "Acme reports", "https://acme.example", "", {}}; }

/// The only invalid field; empty if there is none, or several.
std::string faulty_field(const application_request& request) {
    const auto faults = faults_of(request);
    if (faults.size() != 1) return std::to_string(faults.size());
    CHECK(faults[0].message.starts_with(faults[0].field));
    return std::string{faults[0].field};
}

}  // namespace

TEST_CASE("a registered application is stored, with a digest of its secret", "[register_application]") {
    registry one;
    auto request = sample_request();
    request.description = "Reads balances";
    request.redirect_urls = {"https://acme.example/back?from=tollgate"};
    const auto registered = one.add(request);
    REQUIRE(registered);
    CHECK(registered->client_id.view().starts_with("tgi_"));
    CHECK(is_well_formed(secret_kind::client_secret, registered->client_secret));
    REQUIRE(one.store.created.size() == 1);
    const auto& stored = one.store.created[0];
    CHECK(stored.owner == user_id{7});
    CHECK(stored.client_id == registered->client_id.view());
    CHECK(stored.secret_digest == digest_of(registered->client_secret));
    CHECK(stored.name == "Acme reports");
    CHECK(stored.website == "https://acme.example/");
    CHECK(stored.description == "Reads balances");
    CHECK(stored.redirect_urls == std::vector<std::string>{"https://acme.example/back?from=tollgate"});
    CHECK(stored.type == client_type::confidential);
    CHECK(stored.created_at == noon);
}

TEST_CASE("a public client has no secret, and may come back to an application of its own", "[register_application]") {
    registry one;
    auto request = sample_request();
    request.type = client_type::public_client;
    request.redirect_urls = {"com.Example.app:/back", "http://127.0.0.1/back", "https://acme.example"};
    const auto registered = one.add(request);
    REQUIRE(registered);
    CHECK(registered->client_secret.view().empty());
    CHECK(one.store.created[0].type == client_type::public_client);
    CHECK(one.store.created[0].secret_digest == digest{});
    CHECK(one.store.created[0].redirect_urls ==
          std::vector<std::string>{"com.Example.app:/back", "http://127.0.0.1/back", "https://acme.example"});

    for (const char* url : {"com.example.app://back", "com.example.app:/", "a.b:/c?d=e"}) {
        CAPTURE(url);
        request.redirect_urls = {url};
        CHECK(faults_of(request).empty());
        request.type = client_type::confidential;
        CHECK(faulty_field(request) == "redirect_url");
        request.type = client_type::public_client;
    }
    for (const char* url : {"javascript:alert(1)", "myapp:/back", "com.example.app:back", "com.example.app:", "com.example.app:/a#b",
                            "com.example.app:/a b", ".example:/a", "com..app:/a", "com.:/a", "1.a:/b", "com.ex ample:/a",
                            "com.example.app:/\xc3\xbc", "com.example.app", ""}) {
        CAPTURE(url);
        request.redirect_urls = {url};
        CHECK(faulty_field(request) == "redirect_url");
    }
    request.redirect_urls = {"myapp:/back"};
    CHECK(faults_of(request).front().message ==
          "redirect_url must be an absolute http or https URL, or one with a private-use scheme such as com.example.app:/callback, of "
          "at most 2048 bytes.");
    request.type = client_type::confidential;
    CHECK(faults_of(request).front().message == "redirect_url must be an absolute http or https URL of at most 2048 bytes.");
    request.type = client_type::public_client;
    request.redirect_urls = {"com.example.app:/" + std::string(2048, 'a')};
    CHECK(faulty_field(request) == "redirect_url");
}

TEST_CASE("redirect URLs that an earlier one stands for are not stored", "[register_application]") {
    registry one;
    auto request = sample_request();
    request.redirect_urls = {"https://ACME.example:443/1", "https://acme.example/1", "https://acme.example/2", "https://acme.example/2",
                             "https://Acme.example/2"};
    REQUIRE(one.add(request));
    CHECK(one.store.created[0].redirect_urls ==
          std::vector<std::string>{"https://ACME.example:443/1", "https://acme.example/2", "https://Acme.example/2"});
}

TEST_CASE("a redirect URL has no parameter that a response adds", "[register_application]") {
    auto request = sample_request();
    request.type = client_type::public_client;
    for (const std::string base : {"https://acme.example/", "com.example.app:/", "http://127.0.0.1"}) {
        for (const char* query : {"?code=x", "?a=b&state", "?iss=", "?error=x&a", "?error_description=x", "?c%6fde=x", "?state=%ff"}) {
            request.redirect_urls = {base + query};
            CAPTURE(request.redirect_urls[0]);
            REQUIRE(faults_of(request).size() == 1);
            CHECK(faults_of(request)[0].kind == field_error::reserved_parameter);
            CHECK(faults_of(request)[0].field == "redirect_url");
        }
        for (const char* query : {"?", "?codes=x", "?a=code", "?CODE=x", "?a=%26code=x", "/code?a"}) {
            request.redirect_urls = {base + query};
            CAPTURE(request.redirect_urls[0]);
            CHECK(faults_of(request).empty());
        }
    }
    request.redirect_urls = {};
    request.website = "https://acme.example/?code=x";
    CHECK(faults_of(request).empty());
}

TEST_CASE("an application has some redirect URLs, and not any number", "[register_application]") {
    auto request = sample_request();
    for (std::size_t i = 0; i < limits::redirect_urls_max; ++i)
        request.redirect_urls.push_back("https://acme.example/" + std::to_string(i));
    CHECK(faults_of(request).empty());
    request.redirect_urls[3] = "x";
    CHECK(faulty_field(request) == "redirect_url");
    CHECK(faults_of(request).front().index == 3);
    request.redirect_urls[3] = "https://acme.example/more";
    request.redirect_urls.push_back("https://acme.example/last");
    CHECK(faulty_field(request) == "redirect_url");
    CHECK(faults_of(request).front().kind == field_error::too_many);
    request.redirect_urls.assign(10'000, "x");
    CHECK(faults_of(request).size() == 1);
}

TEST_CASE("two applications differ in id and secret", "[register_application]") {
    registry one;
    const auto first = one.add(sample_request());
    const auto second = one.add(sample_request());
    REQUIRE((first && second));
    CHECK(first->client_id.view() != second->client_id.view());
    CHECK(first->client_secret.view() != second->client_secret.view());
}

TEST_CASE("names and descriptions are checked", "[register_application]") {
    auto request = sample_request();
    CHECK(faults_of(request).empty());
    request.name = std::string(100, 'n');
    request.description = std::string(255, 'd');
    CHECK(faults_of(request).empty());
    for (const char* url : {"https://acme.example", "https://acme.example:8443/a/b?c=d", "http://127.8.9.1/", "http://[::1]:8080/back", "https://xn--bcher-kva.example/", "http://127.0.0.1:8080/back",
                            "http://localhost/", "https://[2001:db8::1]/", "https://acme.example/?"}) {
        CAPTURE(url);
        request.website = url;
        request.redirect_urls = {url};
        CHECK(faults_of(request).empty());
    }
    request.website = "https://acme.example/#about";
    CHECK(faults_of(request).empty());
}

TEST_CASE("each refusal names its field", "[register_application]") {
    for (const std::string& name : {std::string{}, std::string{"  "}, std::string(101, 'n'), std::string{"a\nb"}, std::string{"a\xff"},
                                    std::string{"\xe2\x80\xae""evil"}}) {
        CAPTURE(name);
        auto request = sample_request();
        request.name = name;
        CHECK(faulty_field(request) == "name");
    }
    for (const std::string& description : {std::string{" "}, std::string(256, 'd'), std::string{"a\tb"}}) {
        auto request = sample_request();
        request.description = description;
        CHECK(faulty_field(request) == "description");
    }
    const std::string long_url = "https://acme.example/" + std::string(2048, 'a');
    for (const std::string& url : {std::string{}, std::string{"acme.example"}, std::string{"//acme.example"}, std::string{"/back"},
                                   std::string{"javascript:alert(1)"}, std::string{"ftp://acme.example/"},
                                   std::string{"https://user@acme.example/"}, std::string{"https://acme.example/ a"},
                                   std::string{"https://acme.example\\@evil.example"}, std::string{"https://acme.example/\r\n"},
                                   std::string{"https://"}, std::string{"https://acme.example./"},
                                   std::string{"https://acme.example%2e/"}, std::string{"https://acme.example.:443"},
                                   std::string{"myapp:/back"}, long_url}) {
        CAPTURE(url);
        auto request = sample_request();
        request.website = url;
        CHECK(faulty_field(request) == "website");
        request = sample_request();
        request.redirect_urls = {url};
        CHECK(faulty_field(request) == "redirect_url");
    }
    for (const char* url : {"https://acme.example/back#", "https://acme.example/#fragment"}) {
        auto request = sample_request();
        request.redirect_urls = {url};
        CHECK(faulty_field(request) == "redirect_url");
    }
}

TEST_CASE("http is for loopback addresses, and texts beyond ASCII are refused with that reason", "[register_application]") {
    for (const auto& [url, what] : {std::pair{"http://acme.example/", field_error::insecure},
                                    {"http://192.0.2.1/", field_error::insecure},
                                    {"http://128.0.0.1/", field_error::insecure},
                                    {"http://[::2]/", field_error::insecure},
                                    {"http://localhost.acme.example/", field_error::insecure},
                                    {"http://127.0.0.1.acme.example/", field_error::insecure},
                                    {"https://b\xc3\xbc" "cher.example/", field_error::not_ascii},
                                    {"https://acme.example/\xc3\xbc", field_error::not_ascii}}) {
        CAPTURE(url);
        auto request = sample_request();
        request.redirect_urls = {url};
        CHECK(faulty_field(request) == "redirect_url");
        CHECK(faults_of(request).front().kind == what);
        request = sample_request();
        request.website = url;
        CHECK(faulty_field(request) == "website");
        CHECK(faults_of(request).front().kind == what);
    }
    auto request = sample_request();
    request.redirect_urls = {"https://b\xc3\xbc" "cher.example/"};
    CHECK(faults_of(request).front().message.find("ASCII form (xn--...)") != std::string::npos);
}

TEST_CASE("URLs are normalized as URL libraries write them; redirect URLs are stored as they were entered", "[register_application]") {
    for (const auto& [url, normalized] : {std::pair{"https://acme.example", "https://acme.example/"},
                                          {"HTTPS://ACME.Example/Back?A=%2F", "https://acme.example/Back?A=%2F"},
                                          {"https://acme.example:443/back", "https://acme.example/back"},
                                          {"https://acme.example?a=b", "https://acme.example/?a=b"},
                                          {"https://acme.example/back?", "https://acme.example/back?"},
                                          {"http://127.0.0.1:8080", "http://127.0.0.1:8080/"},
                                          {"http://[::1]:80/a/../b", "http://[::1]/a/../b"}}) {
        CAPTURE(url);
        registry one;
        auto request = sample_request();
        request.website = request.redirect_urls.emplace_back(url);
        REQUIRE(one.add(request));
        CHECK(one.store.created[0].website == normalized);
        CHECK(detail::normalized_redirect_url(url) == normalized);
        CHECK(one.store.created[0].redirect_urls == std::vector<std::string>{url});
    }
    for (const auto& [url, normalized] : {std::pair{"com.Example.App:/Cb", "com.example.app:/Cb"}, {"no URL", "no URL"}, {"", ""}, {":", ":"},
                                          {"https://u@Acme.example", "https://u@Acme.example"}})
        CHECK(detail::normalized_redirect_url(url) == normalized);
    registry one;
    auto request = sample_request();
    request.website = "https://Acme.example/#about";
    REQUIRE(one.add(request));
    CHECK(one.store.created[0].website == "https://acme.example/#about");
}

TEST_CASE("all errors are reported at once, without a store call", "[register_application]") {
    registry one;
    const application_request request{user_id{7}, "", "", std::string(256, 'd'), {""}};
    CHECK(faults_of(request).size() == 4);
    const auto registered = one.add(request);
    REQUIRE_FALSE(registered);
    CHECK(registered.error().kind == error_kind::invalid);
    CHECK(registered.error().message.starts_with("name "));
    CHECK(one.store.created.empty());
}

TEST_CASE("without random bytes no application is created", "[register_application]") {
    registry one;
    one.random_works = false;
    const auto registered = one.add(sample_request());
    REQUIRE_FALSE(registered);
    CHECK(registered.error().kind == error_kind::internal);
    CHECK(one.store.created.empty());
}

TEST_CASE("bounds and errors of the store are returned to the caller", "[register_application]") {
    registry one;
    CHECK(one.add(sample_request(), 1));
    const auto second = one.add(sample_request(), 1);
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == error_kind::invalid);
    one.store.failure = unavailable("down");
    CHECK(one.add(sample_request()).error().kind == error_kind::unavailable);
}
