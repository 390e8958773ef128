#include <tollgate/api/account_service.hpp>

#include <tollgate/api/sign_in.hpp>

#include <tollgate/account/issue_personal_token.hpp>
#include <tollgate/account/new_secret.hpp>
#include <tollgate/base/detail/encoding.hpp>
#include <tollgate/limits/window_limiter.hpp>
#include <tollgate/web/detail/form.hpp>

#include <support/page_shop.hpp>

#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace tollgate;
using namespace tollgate_test;
using http::method;
using work = http::work_kind;

namespace {

/// How often a request had each thing done.
struct call_counts {
    int agents = 0, credentials = 0, sessions = 0, applications = 0, active_users = 0, quotas = 0, limits = 0;
    friend bool operator==(const call_counts&, const call_counts&) = default;
};

std::ostream& operator<<(std::ostream& out, const call_counts& n) {
    return out << "agents " << n.agents << ", credentials " << n.credentials << ", sessions " << n.sessions << ", applications "
               << n.applications << ", active users " << n.active_users << ", quotas " << n.quotas << ", limits " << n.limits;
}

struct counting_rule {
    call_counts* counts;
    [[nodiscard]] bool accepts(std::string_view agent) const noexcept {
        ++counts->agents;
        return !agent.empty();
    }
};

struct counting_limiter : unlimited {
    static constexpr bool blocking = true;
    call_counts* counts;

    explicit counting_limiter(call_counts* to) : counts{to} {}
    limit_decision take(const limit_key& key, const quota& allowed, instant now) noexcept {
        ++counts->limits;
        return unlimited::take(key, allowed, now);
    }
    limit_decision peek(const limit_key& key, const quota& allowed, instant now) noexcept {
        ++counts->limits;
        return unlimited::peek(key, allowed, now);
    }
};

struct counting_users : shop_directory {
    static constexpr bool blocking = true;
    call_counts* counts = nullptr;
    instant* clock = nullptr;
    milliseconds takes{};
    result<std::optional<quota>> quota_of(user_id user) {
        if (clock != nullptr) *clock += takes;
        ++counts->quotas;
        return shop_directory::quota_of(user);
    }
};

struct counting_store : memory_store {
    static constexpr bool blocking = true;
    call_counts* counts = nullptr;
    result<std::optional<token_credential>> find_credential(const credential_key& key) {
        return ++counts->credentials, memory_store::find_credential(key);
    }
    result<std::optional<application>> find_application(std::string_view client_id) {
        return ++counts->applications, memory_store::find_application(client_id);
    }
};

struct counting_sessions : shop_sessions {
    static constexpr bool blocking = true;
    call_counts* counts = nullptr;
    bool ann_is_active = true, bob_is_active = true;
    result<std::optional<session>> session_of(const http::request& request, instant now) {
        return ++counts->sessions, shop_sessions::session_of(request, now);
    }
    instant* clock = nullptr;
    milliseconds takes{};
    std::optional<instant> signed_in_at;
    result<sign_in_response> sign_in(const http::request& request, const sign_in_attempt& attempt, instant at, http::response& response) {
        signed_in_at = at;
        return shop_sessions::sign_in(request, attempt, at, response);
    }
    result<bool> is_active(user_id user) {
        if (clock != nullptr) *clock += takes;
        ++counts->active_users;
        return user == bob ? bob_is_active : ann_is_active;
    }
};

/// A service whose every part blocks and counts, with Bob's application and Ann's token.
struct whole_service {
    instant now = from_unix_seconds(1'700'000'000);
    std::uint64_t entropy = 0;
    bool random_works = true;
    call_counts counts;
    counting_users users{ann_and_bob()};
    counting_store store;
    counting_sessions sessions;
    account_service service;
    application_id application{1};
    std::string client_id, client_secret, username, secret;

    whole_service() : service{make_settings(), users, store, sessions, make_policies()} {
        users.counts = store.counts = sessions.counts = &counts;
        const auto policies = make_policies();
        client_id = new_public_id(public_id_kind::client_id, policies.random()).value().view();
        client_secret = new_secret(secret_kind::client_secret, policies.random()).value().view();
        application = *store.create_application({.owner = bob,
                                                 .client_id = *client_id_text::from(client_id),
                                                 .secret_digest = digest_of(client_secret),
                                                 .name = "App",
                                                 .website = {},
                                                 .description = {},
                                                 .redirect_urls = {"https://app.example/cb"},
                                                 .created_at = now},
                                                9);
        const auto scopes = *scope_set::parse("user:balance sitesmaker");
        const auto token = issue_personal_token(store, {ann, "x", scopes, {}}, now, policies.random());
        username = token->username.view();
        secret = token->secret.view();
        counts = {};
    }

    static account_service_settings make_settings() {
        auto settings = shop_settings();
        settings.auth_url = "https://shop.example";
        settings.oauth.one_page_services = {"itemplatform"};
        return settings;
    }
    policies make_policies() {
        return default_policies()
            .with_clock(fake_clock{&now})
            .with_random(counting_random{&entropy, &random_works})
            .with_agent_rule(counting_rule{&counts})
            .with_limiter(counting_limiter{&counts});
    }
    std::string new_code() {
        const auto code = new_secret_of(secret_kind::authorization_code);
        REQUIRE(store.create_code({.code_digest = digest_of(code),
                                   .user = ann,
                                   .application = application,
                                   .scopes = *scope_set::parse("user:balance"),
                                   .redirect = "https://app.example/cb",
                                   .code_challenge = std::nullopt,
                                   .created_at = now,
                                   .expires_at = now + seconds{600}}));
        return std::string{code.view()};
    }
    /// A refresh token of Ann's.
    std::string new_refresh_token() {
        const auto refresh = new_secret_of(secret_kind::refresh_token);
        const auto redeemed = store.redeem_code({.code_digest = digest_of(new_code()),
                                                 .application = application,
                                                 .now = now,
                                                 .tokens = {.access_digest = digest_of(new_secret_of(secret_kind::access_token)),
                                                            .access_expires_at = now + seconds{600},
                                                            .refresh_digest = digest_of(refresh),
                                                            .refresh_expires_at = now + seconds{600},
                                                            .refresh_ends_at = now + seconds{600}}});
        REQUIRE((redeemed && redeemed->result == redemption_result::redeemed));
        return std::string{refresh.view()};
    }
    secret_text new_secret_of(secret_kind kind) { return new_secret(kind, make_policies().random()).value(); }
    [[nodiscard]] std::string client() const { return "client_id=" + client_id + "&client_secret=" + client_secret; }
    [[nodiscard]] std::string authorization() const { return "response_type=code&scope=user:balance&client_id=" + client_id; }
    /// The form token of a page that Ann reads.
    std::string form_token_on(const std::string& path) {
        test_request request{method::get, path};
        request.field("Cookie", "who=ann");
        return page_shop::token_on(service.handle(request.view()));
    }
};

struct judged {
    http::response response;
    std::string steps;  ///< b: waited for the body, w: for a worker
};

/// Sends a request whose body arrives late; `wait()` is called for each wait.
judged send(whole_service& shop, test_request& request, const std::string& body, const std::function<void(char)>& wait) {
    judged result;
    http::handler_state state;
    auto thread = http::thread_kind::io;
    while (result.steps.size() < 20) {
        const auto step = shop.service.advance(request.view(), result.response, state, thread);
        state.forget_time();
        if (step == http::handle_step::done) break;
        const bool needs_body = step == http::handle_step::needs_body;
        result.steps += needs_body ? 'b' : 'w';
        wait(result.steps.back());
        if (needs_body) request.arrived(body);
        thread = needs_body ? http::thread_kind::io : http::thread_kind::worker;
    }
    return result;
}

constexpr const char* form_type = "application/x-www-form-urlencoded";

/// A request of each kind.
struct sample {
    const char* name;
    method verb;
    std::string path;
    std::string type;
    std::string body;
    enum { nobody, token, session } caller;
};

void prepare(test_request& request, const sample& of, const whole_service& shop) {
    if (of.caller == sample::token) request.basic(shop.username, shop.secret);
    if (of.caller == sample::session) request.field("Cookie", "who=ann");
    if (!of.type.empty()) request.field("Content-Type", of.type).field("Sec-Fetch-Site", "same-origin").pending(of.body.size());
}

}  // namespace

TEST_CASE("each decision about a request is made once", "[api][order]") {
    whole_service shop;
    const std::string tokens = "/en/user/settings/tokens/";
    struct row {
        sample request;
        unsigned status;
        call_counts expected;
    };
    const std::vector<row> rows{
        {{"balance", method::get, "/v1/user/balance", "", "", sample::token},
         200, {.agents = 1, .credentials = 1, .quotas = 1, .limits = 1}},
        {{"a new webhook", method::post, "/v1/sitesmaker/1/hooks", "application/json",
          R"({"event":"site.created","target_url":"https://app.example/hook"})", sample::token},
         201, {.agents = 1, .credentials = 1, .quotas = 1, .limits = 1}},
        {{"an unknown path", method::get, "/v1/nothing", "", "", sample::token},
         404, {.agents = 1, .credentials = 1, .quotas = 1, .limits = 1}},
        {{"documentation", method::get, "/docs/", "", "", sample::nobody}, 200, {.agents = 1}},
        {{"metadata", method::get, "/.well-known/oauth-authorization-server", "", "", sample::nobody}, 200, {.agents = 1}},
        {{"a code", method::post, "/user/oauth_token/", form_type, shop.client() + "&grant_type=authorization_code&code=" + shop.new_code(),
          sample::nobody},
         200, {.agents = 1, .applications = 1, .active_users = 2, .limits = 1}},
        {{"a wrong secret", method::post, "/user/oauth_token/", form_type,
          "client_id=" + shop.client_id + "&client_secret=" + std::string{shop.new_secret_of(secret_kind::client_secret).view()},
          sample::nobody},
         401, {.agents = 1, .applications = 1, .limits = 1}},
        {{"an application with consent", method::get, "/en/user/oauth/?" + shop.authorization(), "", "", sample::session},
         303, {.agents = 1, .sessions = 1, .applications = 1, .active_users = 1}},
        {{"a decision", method::post, "/en/user/oauth/", form_type, shop.authorization() + "&form_token=x&decision=allow", sample::session},
         403, {.agents = 1, .sessions = 1, .applications = 1, .active_users = 1}},
        {{"a page", method::get, tokens, "", "", sample::session}, 200, {.agents = 1, .sessions = 1}},
        {{"the overview", method::get, "/en/user/", "", "", sample::session}, 200, {.agents = 1, .sessions = 1, .quotas = 1, .limits = 1}},
        {{"a form", method::post, tokens, form_type, "description=x&scopes=user:balance&form_token=" + shop.form_token_on(tokens),
          sample::session},
         303, {.agents = 1, .sessions = 1}},
        {{"a sign-in", method::post, "/en/user/sign_in/", form_type, "login=ann&password=nna", sample::nobody}, 303, {.agents = 1}},
    };
    for (const row& each : rows) {
        CAPTURE(each.request.name);
        test_request request{each.request.verb, each.request.path};
        prepare(request, each.request, shop);
        shop.counts = {};
        const auto done = send(shop, request, each.request.body, [](char) {});
        CHECK(to_number(done.response.status()) == each.status);
        CHECK(shop.counts == each.expected);
    }
}

TEST_CASE("a request that waited is decided again before it acts, whatever it is for", "[api][order]") {
    struct row {
        const char* name;
        std::function<sample(whole_service&)> request;
        std::function<void(whole_service&)> end;  ///< ends what the request was allowed by
        unsigned allowed, refused;
        std::string location = {};  ///< where the refused request is redirected
        std::string content = {};   ///< of the response to the refused request
    };
    const std::string tokens = "/en/user/settings/tokens/";
    const auto delete_ann = [](whole_service& shop) { shop.sessions.logins.erase("ann"); };
    const auto suspend = [](whole_service& shop) {
        REQUIRE(*shop.store.change_application({}, shop.application, suspension_change{suspension::by_operator}));
    };
    const std::vector<row> rows{
        {"a new webhook",
         [](whole_service&) {
             return sample{"", method::post, "/v1/sitesmaker/1/hooks", "application/json",
                           R"({"event":"site.created","target_url":"https://app.example/hook"})", sample::token};
         },
         [](whole_service& shop) { shop.users.people.erase(ann); }, 201, 401},
        {"a form", [&](whole_service& shop) {
             const auto body = "description=x&scopes=user:balance&form_token=" + shop.form_token_on(tokens);
             return sample{"", method::post, tokens, form_type, body, sample::session};
         },
         delete_ann, 303, 303, "/en/user/sign_in/?return_to="},
        {"a code", [](whole_service& shop) {
             return sample{"", method::post, "/user/oauth_token/", form_type,
                           shop.client() + "&grant_type=authorization_code&code=" + shop.new_code(), sample::nobody};
         },
         suspend, 200, 400},
        {"a code of an application whose owner is disabled", [](whole_service& shop) {
             return sample{"", method::post, "/user/oauth_token/", form_type,
                           shop.client() + "&grant_type=authorization_code&code=" + shop.new_code(), sample::nobody};
         },
         [](whole_service& shop) { shop.sessions.bob_is_active = false; }, 200, 400},
        {"a refresh for a user who is disabled", [](whole_service& shop) {
             return sample{"", method::post, "/user/oauth_token/", form_type,
                           shop.client() + "&grant_type=refresh_token&refresh_token=" + shop.new_refresh_token(), sample::nobody};
         },
         [](whole_service& shop) { shop.sessions.ann_is_active = false; }, 200, 400},
        {"an introspection of a token that is revoked", [](whole_service& shop) {
             return sample{"", method::post, "/user/oauth_introspect/", form_type, shop.client() + "&token=" + shop.new_refresh_token(),
                           sample::nobody};
         },
         [](whole_service& shop) { REQUIRE(*shop.store.revoke(grant_revocation{ann, shop.application})); },
         200, 200, "", "\"active\":false"},
        {"consent to an application whose owner is disabled", [](whole_service& shop) {
             return sample{"", method::get, "/en/user/oauth/?" + shop.authorization(), "", "", sample::session};
         },
         [](whole_service& shop) { shop.sessions.bob_is_active = false; }, 200, 400},
        {"consent on the page that signs in, too", [](whole_service& shop) {
             return sample{"", method::post, "/en/itemplatform/oauth/", form_type, shop.authorization() + "&form_token=x&decision=allow",
                           sample::session};
         },
         delete_ann, 403, 303, "/en/itemplatform/oauth/?"},
        {"a decision to be another user", [](whole_service& shop) {
             const auto token = shop.form_token_on("/en/user/oauth/?" + shop.authorization());
             return sample{"", method::post, "/en/user/oauth/", form_type,
                           shop.authorization() + "&decision=other_user&form_token=" + token, sample::session};
         },
         delete_ann, 303, 303, "/en/user/sign_in/?return_to="},
        {"the webhooks of an account", [](whole_service&) {
             return sample{"", method::get, "/en/user/settings/webhooks/", "", "", sample::session};
         },
         [](whole_service& shop) { shop.users.people.at(ann).accounts.clear(); }, 200, 200, "", "no account"},
        {"a decision", [](whole_service& shop) {
             const auto body = shop.authorization() + "&form_token=x&decision=allow";
             return sample{"", method::post, "/en/user/oauth/", form_type, body, sample::session};
         },
         delete_ann, 403, 303, "/en/user/sign_in/?return_to="},
    };
    for (const row& each : rows) {
        for (const auto& [wait, ends] : {std::pair{milliseconds{1500}, true}, {milliseconds{1500}, false}, {milliseconds{0}, false}}) {
            CAPTURE(each.name, wait.count(), ends);
            whole_service shop;
            const sample of = each.request(shop);
            test_request request{of.verb, of.path};
            prepare(request, of, shop);
            const auto waits_max = [&] {
                whole_service other;
                const sample same = each.request(other);
                test_request twin{same.verb, same.path};
                prepare(twin, same, other);
                return send(other, twin, same.body, [](char) {}).steps.size();
            }();
            std::size_t waits = 0;
            const auto done = send(shop, request, of.body, [&](char) {
                if (++waits != waits_max) return;
                shop.now += wait;
                if (ends) each.end(shop);
            });
            CHECK(to_number(done.response.status()) == (ends ? each.refused : each.allowed));
            CHECK(done.response.find("Location").starts_with(ends ? each.location : ""));
            if (ends) CHECK(done.response.body().find(each.content) != std::string::npos);
            const auto fields = done.response.field_block();
            CHECK(fields.find("Location:") == fields.rfind("Location:"));
        }
    }
}

TEST_CASE("a slow look-up does not make a request late", "[api][order]") {
    for (const auto& [path, body] : {std::pair{"/v1/user/balance", ""}, {"/user/oauth_token/", "&grant_type=authorization_code&code="}}) {
        CAPTURE(path);
        whole_service shop;
        shop.users.takes = shop.sessions.takes = milliseconds{1200};
        shop.users.clock = shop.sessions.clock = &shop.now;
        const bool is_code = *body != '\0';
        const sample of{"", is_code ? method::post : method::get, path, is_code ? form_type : "",
                        is_code ? shop.client() + body + shop.new_code() : "", is_code ? sample::nobody : sample::token};
        test_request request{of.verb, of.path};
        prepare(request, of, shop);
        CHECK(send(shop, request, of.body, [](char) {}).response.status() == http::status::ok);
        CHECK(shop.counts.credentials + shop.counts.applications == 1);
    }
}

TEST_CASE("a request acts at the time at which its body has arrived", "[api][order]") {
    whole_service shop;
    test_request request{method::post, "/en/user/sign_in/"};
    request.field("Content-Type", form_type).field("Sec-Fetch-Site", "same-origin").pending();
    const auto begun = shop.now;
    const auto done = send(shop, request, "login=ann&password=nna", [&](char wait) {
        if (wait == 'b') shop.now += seconds{29};
    });
    CHECK(to_number(done.response.status()) == 303);
    CHECK(shop.sessions.signed_in_at == begun + seconds{29});
}

TEST_CASE("a request that waits too long each time is refused, whatever it is for", "[api][order]") {
    whole_service shop;
    const std::string tokens = "/en/user/settings/tokens/";
    for (const sample& of : std::vector<sample>{
             {"webhooks", method::get, "/v1/sitesmaker/1/hooks", "", "", sample::token},
             {"a page", method::get, tokens, "", "", sample::session},
             {"a code", method::post, "/user/oauth_token/", form_type,
              shop.client() + "&grant_type=authorization_code&code=" + shop.new_code(), sample::nobody},
         }) {
        CAPTURE(of.name);
        test_request request{of.verb, of.path};
        prepare(request, of, shop);
        const auto done = send(shop, request, of.body, [&](char) { shop.now += seconds{2}; });
        CHECK(done.response.status() == http::status::service_unavailable);
        CHECK(done.response.find("Retry-After") == "2");
        CHECK(done.steps.size() < 20);
    }
}
