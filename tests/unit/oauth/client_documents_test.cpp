#include <tollgate/oauth/detail/client_documents.hpp>

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace tollgate;
using oauth::client_documents;
using oauth::document_failure;

namespace {

const std::string agent = "https://agent.example/client.json";

std::string document(const std::string& url = agent, const std::string& redirect = "https://agent.example/cb") {
    return R"({"client_id":")" + url + R"(","client_name":"Agent","redirect_uris":[")" + redirect + R"("]})";
}

/// A host that responds as a test says, and counts.
struct host {
    result<fetched_document> response = fetched_document{200, "application/json", document(), std::nullopt};
    std::vector<std::string> fetched;

    account_service_settings settings() {
        account_service_settings all{.base_url = "https://api.example/v1", .services = {{"shop", {"order.paid"}}}};
        all.oauth.fetch_client_document = [this](const std::string& url) {
            fetched.push_back(url);
            return response;
        };
        return all;
    }
};

struct fixture {
    host at;
    account_service_settings settings = at.settings();
    client_documents documents{settings};
    instant now{std::chrono::hours{1000}};
    ip_address client = ip_address::v4(192, 0, 2, 1);

    std::string find(const std::string& url = agent) {
        const auto found = documents.find(url, client, now);
        if (const auto* failed = std::get_if<document_failure>(&found))
            return failed->reason == document_failure::kind::too_many ? "too many" : failed->description;
        return std::get<application>(found).redirect_urls.front();
    }
};

}  // namespace

TEST_CASE("a document is fetched and describes a public client without an owner", "[oauth][documents]") {
    fixture test;
    CHECK(test.documents.needs_fetch(agent, test.now));
    const auto found = std::get<application>(test.documents.find(agent, test.client, test.now));
    CHECK(found.client_id == client_id_text::from(agent));
    CHECK(found.owner == no_owner);
    CHECK(found.type == client_type::public_client);
    CHECK(found.registration == registration_kind::metadata_document);
    CHECK(found.website == "https://agent.example");
    CHECK(found.name == "Agent");
    CHECK_FALSE(test.documents.needs_fetch(agent, test.now));
}

TEST_CASE("only https URLs name documents, and only where the settings allow them", "[oauth][documents]") {
    fixture test;
    CHECK(test.documents.may_hold(agent));
    CHECK_FALSE(test.documents.may_hold("http://agent.example/client.json"));
    CHECK_FALSE(test.documents.may_hold("tgi_app"));
    account_service_settings off = test.settings;
    off.oauth.fetch_client_document = nullptr;
    CHECK_FALSE(client_documents{off}.may_hold(agent));
}

TEST_CASE("a URL that is not a client identifier is refused before its host is asked", "[oauth][documents]") {
    fixture test;
    test.settings.oauth.accepts_client_host = [](std::string_view name) { return name != "evil.example"; };
    for (const char* url : {"https://agent.example", "https://agent.example/a/../b", "https://agent.example/.", "https://u@agent.example/c",
                            "https://agent.example/c#f", "https://agent.example:99999/c", "https:///c", "https://evil.example/c"}) {
        CAPTURE(url);
        CHECK(test.find(url).find("://") == std::string::npos);
    }
    CHECK(test.at.fetched.empty());
    CHECK(test.find() == "https://agent.example/cb");
}

TEST_CASE("a response that is no valid document is refused, and its reason is for its author", "[oauth][documents]") {
    struct row {
        unsigned status;
        const char* type;
        std::string body;
        const char* reason;  ///< a part of it
    };
    for (const auto& [status, type, body, reason] : {
             row{404, "application/json", document(), "404"},
             row{302, "application/json", document(), "302"},
             row{204, "application/json", "", "204"},
             row{200, "text/html", document(), "Content-Type"},
             row{200, "", document(), "Content-Type"},
             row{200, "application/jsonx", document(), "Content-Type"},
             row{200, "application/json", "<html>", "JSON object"},
             row{200, "application/json", "[]", "JSON object"},
             row{200, "application/json", "{}", "client_id"},
             row{200, "application/json", document(agent + "/"), "client_id"},
             row{200, "application/json", document("https://agent.example/other.json"), "client_id"},
             row{200, "application/json", document(agent, "http://agent.example/cb"), "redirect_uris"},
             row{200, "application/json", R"({"client_id":")" + agent + R"("})", "redirect_uris"},
         }) {
        CAPTURE(status, type, body);
        fixture test;
        test.at.response = fetched_document{status, type, body, std::nullopt};
        CHECK(test.find().find(reason) != std::string::npos);
    }
    for (const char* type : {"application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.client+json"}) {
        CAPTURE(type);
        fixture test;
        test.at.response = fetched_document{200, type, document(), std::nullopt};
        CHECK(test.find() == "https://agent.example/cb");
    }
}

TEST_CASE("a document is kept for as long as its response allows, within bounds", "[oauth][documents]") {
    struct row {
        std::optional<seconds> fresh_for;
        seconds kept;
    };
    for (const auto& [fresh_for, kept] : {row{std::nullopt, seconds{60}}, row{seconds{300}, seconds{300}}, row{seconds{0}, seconds{0}},
                                          row{std::chrono::hours{1000}, std::chrono::hours{24}}}) {
        fixture test;
        test.at.response->fresh_for = fresh_for;
        CHECK(test.find() == "https://agent.example/cb");
        test.at.response->body = document(agent, "https://agent.example/new");
        if (kept > seconds{0}) {
            test.now += kept - milliseconds{1};
            CHECK(test.find() == "https://agent.example/cb");
            CHECK(test.at.fetched.size() == 1);
            test.now += milliseconds{1};
        }
        CHECK(test.find() == "https://agent.example/new");
        CHECK(test.at.fetched.size() == 2);
    }
}

TEST_CASE("a document stays valid for a while if its host does not respond", "[oauth][documents]") {
    fixture test;
    CHECK(test.find() == "https://agent.example/cb");
    test.now += std::chrono::minutes{2};
    test.at.response = error{error_kind::unavailable, "its host did not respond in time", {}};
    CHECK(test.find() == "https://agent.example/cb");
    CHECK(test.find() == "https://agent.example/cb");
    CHECK(test.at.fetched.size() == 2);  // not asked again at once
    test.at.response = fetched_document{503, "text/plain", "", std::nullopt};
    test.now += std::chrono::minutes{2};
    CHECK(test.find() == "https://agent.example/cb");
    test.now += std::chrono::hours{48};
    CHECK(test.find().find("503") != std::string::npos);
}

TEST_CASE("a document that its host withdraws is not used any more", "[oauth][documents]") {
    fixture test;
    CHECK(test.find() == "https://agent.example/cb");
    test.now += std::chrono::minutes{2};
    test.at.response = fetched_document{404, "text/plain", "", std::nullopt};
    CHECK(test.find().find("404") != std::string::npos);
    test.at.response = fetched_document{200, "application/json", document(), std::nullopt};
    CHECK(test.find().find("404") != std::string::npos);  // a reload does not ask the host again
    test.now += seconds{10};
    CHECK(test.find() == "https://agent.example/cb");
}

TEST_CASE("documents are bounded in number, and fetches by address", "[oauth][documents]") {
    fixture test;
    test.settings.oauth.client_documents_max = 2;
    test.settings.oauth.client_documents = {3, std::chrono::minutes{10}};
    const auto fetch = [&](const std::string& url) {
        test.at.response = fetched_document{200, "application/json", document(url), std::chrono::hours{1}};
        return test.find(url);
    };
    CHECK(fetch("https://a.example/c") == "https://agent.example/cb");
    CHECK(fetch("https://b.example/c") == "https://agent.example/cb");
    CHECK(test.find("https://a.example/c") == "https://agent.example/cb");
    CHECK(fetch("https://c.example/c") == "https://agent.example/cb");  // replaces b, which was used least recently
    CHECK(test.find("https://a.example/c") == "https://agent.example/cb");
    CHECK(test.at.fetched.size() == 3);
    CHECK(fetch("https://b.example/c") == "too many");
    test.client = ip_address::v4(192, 0, 2, 2);
    CHECK(fetch("https://b.example/c") == "https://agent.example/cb");
}

TEST_CASE("few documents are fetched at a time", "[oauth][documents]") {
    fixture test;
    test.settings.oauth.client_documents_at_once_max = 1;
    std::string inner;
    test.settings.oauth.fetch_client_document = [&](const std::string& url) -> result<fetched_document> {
        if (url == agent) inner = test.find("https://b.example/c");
        return fetched_document{200, "application/json", document(url), std::nullopt};
    };
    CHECK(test.find() == "https://agent.example/cb");
    CHECK(inner == "too many");
    CHECK(test.find("https://b.example/c") == "https://agent.example/cb");
}
