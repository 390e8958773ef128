#include <tollgate/web/detail/sign_in_form.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::web;

namespace {

const page_texts texts;

}  // namespace

TEST_CASE("missing input is reported") {
    CHECK(faults_of(sign_in_attempt{.login = "ann", .password = "x", .client = {}}, texts.sign_in).empty());
    const auto both = faults_of(sign_in_attempt{.login = "", .password = "", .client = {}}, texts.sign_in);
    CHECK(both.find("login") != nullptr);
    CHECK(both.find("password") != nullptr);
    const auto one = faults_of(sign_in_attempt{.login = "ann", .password = "", .client = {}}, texts.sign_in);
    CHECK(one.is_first("password"));
}

TEST_CASE("a failure is reported at the password, without details") {
    CHECK(faults_of(sign_in_response{sign_in_result::signed_in, {}, {}}, texts.sign_in).empty());
    const auto refused = faults_of(sign_in_response{}, texts.sign_in);
    REQUIRE(refused.find("password") != nullptr);
    CHECK(refused.find("login") == nullptr);
    const auto throttled = faults_of(
        sign_in_response{sign_in_result::throttled, {}, seconds{600}}, texts.sign_in);
    REQUIRE(throttled.find("password") != nullptr);
    CHECK(throttled.find("password")->text.find("10 minutes") != std::string::npos);
}

TEST_CASE("browsers recognize both fields, and input is escaped") {
    std::string page;
    html_writer html{page};
    write_sign_in_fields(html, "<ann>\"", {}, texts);
    CHECK(page.find("name=\"login\"") != std::string::npos);
    CHECK(page.find("autocomplete=\"username\"") != std::string::npos);
    CHECK(page.find("value=\"&lt;ann&gt;&quot;\"") != std::string::npos);
    CHECK(page.find("type=\"password\" autocomplete=\"current-password\"") != std::string::npos);
}
