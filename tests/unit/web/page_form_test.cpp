#include <tollgate/web/detail/form.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;
using namespace tollgate::web;

namespace {

const form_texts texts;

template <class Write>
std::string written(Write&& write) {
    std::string text;
    html_writer html{text};
    write(html);
    return text;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

const std::string hostile = "\"><script>&'";
const std::string escaped = "&quot;&gt;&lt;script&gt;&amp;&#39;";

}  // namespace

TEST_CASE("a text field shows the submitted text, escaped") {
    const auto text = written([](auto& html) {
        write_text_field(html, {.name = "a", .label = hostile, .hint = hostile, .value = hostile}, {},
                         texts);
    });
    CHECK(has(text, "<label for=\"a\">" + escaped + "</label>"));
    CHECK(has(text, "value=\"" + escaped + "\""));
    CHECK(has(text, " required aria-describedby=\"a-hint\">"));
    CHECK_FALSE(has(text, "maxlength"));  // would cut what is pasted
    CHECK_FALSE(has(text, "<script"));
    CHECK_FALSE(has(text, "autofocus"));
}

TEST_CASE("a password is never written") {
    const auto text = written([](auto& html) {
        write_text_field(html, {.name = "password", .label = "Password", .value = "topsecret", .type = "password"}, {},
                         texts);
    });
    CHECK_FALSE(has(text, "topsecret"));
}

TEST_CASE("an error is shown at its field, and the first one is focused") {
    form_faults faults;
    faults.add("b", "Not <this>.");
    faults.add("c", "Nor that.");
    const auto field = [&](std::string_view name) {
        return written(
            [&](auto& html) { write_text_field(html, {.name = name, .label = "L", .focused = true}, faults, texts); });
    };
    CHECK_FALSE(has(field("a"), "fault"));
    CHECK_FALSE(has(field("a"), "autofocus"));
    CHECK(has(field("b"), "<p class=\"fault\" id=\"b-fault\"><strong>Error:</strong> Not &lt;this&gt;.</p>"));
    CHECK(has(field("b"), "aria-describedby=\"b-fault\" aria-invalid=\"true\" autofocus>"));
    CHECK(has(field("c"), "aria-invalid=\"true\">"));
}

TEST_CASE("several errors are listed with links to their fields") {
    form_faults faults;
    const auto list = [&] { return written([&](auto& html) { write_faults(html, faults, texts); }); };
    CHECK(list().empty());
    faults.add("a", "Not this.", "Name");
    CHECK(list().empty());
    faults.add({}, "Not now.");
    CHECK(has(list(), "role=\"alert\""));
    CHECK(has(list(), "<li><a href=\"#a\">Name: Not this.</a></li>\n<li>Not now.</li>"));

    form_faults whole;
    whole.add({}, "Not <now>.");
    CHECK(has(written([&](auto& html) { write_faults(html, whole, texts); }), "<li>Not &lt;now&gt;.</li>"));
    CHECK_FALSE(whole.is_first(""));
}

TEST_CASE("checkboxes share a name, and each has a label") {
    const std::vector<choice> choices{{"x:read", "Read", true}, {hostile, hostile, false}};
    form_faults faults;
    faults.add("scopes", "Choose.");
    const auto text = written(
        [&](auto& html) { write_checkboxes(html, {.name = "scopes", .label = "What?"}, choices, faults, texts); });
    CHECK(has(text, "<fieldset class=\"field faulty\" aria-describedby=\"scopes-fault\">\n<legend>What?</legend>"));
    CHECK(has(text,
              "id=\"scopes\" name=\"scopes\" value=\"x:read\" checked autofocus><label for=\"scopes\">Read "
              "<code>x:read</code>"));
    CHECK(has(text, "id=\"scopes-1\" name=\"scopes\" value=\"" + escaped + "\"><label for=\"scopes-1\">" + escaped +
                        "</label>"));
}

TEST_CASE("a select has groups if its options have groups") {
    const std::vector<choice_group> groups{{"", {{"1", "One", false}}}, {hostile, {{"2", hostile, true}}}};
    const auto text = written([&](auto& html) { write_select(html, {.name = "n", .label = "N"}, groups, {}, texts); });
    CHECK(has(text, "required>\n<option value=\"1\">One</option>\n<optgroup label=\"" + escaped + "\">"));
    CHECK(has(text, "<option value=\"2\" selected>" + escaped + "</option>\n</optgroup>"));
}

TEST_CASE("a form contains its token and hidden fields") {
    const auto text = written([](auto& html) {
        write_confirmation(html, {.label = "Delete", .about = hostile, .warning = hostile, .button = "Yes"},
                           {.url = "/a", .form_token = "t.o", .hidden = {{"action", "delete"}, {"id", hostile}}}, texts);
    });
    CHECK(has(text, "<form method=\"post\" action=\"/a\">\n<input type=\"hidden\" name=\"form_token\" value=\"t.o\">"));
    CHECK(has(text, "<input type=\"hidden\" name=\"id\" value=\"" + escaped + "\">"));
    const std::string id = "\"confirm-delete-" + escaped + '"';
    CHECK(has(text, "popovertarget=" + id + ">Delete<span class=\"unseen\"> " + escaped + "</span></button>"));
    CHECK(has(text, "id=" + id + " popover role=\"dialog\" aria-label=\"Yes\">"));
    CHECK(has(text, "popovertarget=" + id + " popovertargetaction=\"hide\" autofocus>Cancel</button>"));

    const auto with_name = written([](auto& html) {
        write_confirmation(html,
                           {.label = "Delete", .about = "it", .warning = "It is deleted.", .button = "Yes", .typed_name = "name",
                            .typed_label = "Type it"},
                           {.url = "/a", .form_token = "t", .hidden = {}}, texts);
    });
    CHECK(has(with_name, "<input name=\"name\" required autocomplete=\"off\" autofocus>"));
    CHECK(has(with_name, "popovertargetaction=\"hide\">Cancel</button>"));
    CHECK_FALSE(has(text, "<script"));
}

TEST_CASE("a form that is about an item proves that the page listed it, if it is marked") {
    const auto written_with = [](std::string mark) {
        return written([&](auto& html) { begin_form(html, {.url = "/a", .form_token = "t", .hidden = {}, .item_mark = mark}); });
    };
    CHECK(has(written_with("abc"), "<input type=\"hidden\" name=\"item_mark\" value=\"abc\">"));
    CHECK_FALSE(has(written_with(""), "item_mark"));
}

TEST_CASE("a confirmation that is shown again is open in its place, without a script") {
    struct row {
        const char* name;
        std::string_view typed_name;
        std::string_view focused;
    };
    for (const row& each : {row{"a button", "", "<a class=\"button quiet\" href=\"/a\" autofocus>Cancel</a>"},
                            row{"a text to type", "name", " autofocus>\n</div>"}}) {
        CAPTURE(each.name);
        const auto text = written([&](auto& html) {
            write_confirmation(html,
                               {.label = "Delete", .about = "it", .warning = "It is deleted.", .button = "Yes", .typed_name = each.typed_name,
                                .typed_label = "Type it", .is_open = true},
                               {.url = "/a", .form_token = "t", .hidden = {}}, texts);
        });
        CHECK(has(text, "<div class=\"confirm\" id=\"confirm\" role=\"group\" aria-label=\"Yes\">\n<p>It is deleted.</p>"));
        CHECK(has(text, each.focused));
        CHECK_FALSE(has(text, "popover"));
    }
}

TEST_CASE("the button of a removal has its own style") {
    const auto opener = [](bool is_removal) {
        return written([&](auto& html) {
            write_confirmation(html, {.label = "Do", .about = "it", .warning = "It is done.", .button = "Yes", .is_removal = is_removal},
                               {.url = "/a", .form_token = "t", .hidden = {}}, texts);
        });
    };
    CHECK(has(opener(true), "class=\"quiet removal\" popovertarget="));
    CHECK(has(opener(false), "class=\"quiet\" popovertarget="));
}

TEST_CASE("a secret can be copied, but not edited or saved by the browser") {
    const auto text =
        written([](auto& html) { write_copyable_text(html, {.name = "secret", .label = "Secret", .text = "tgp_1"}, texts); });
    CHECK(has(text, "<label for=\"secret\">Secret</label>"));
    CHECK(has(text, " readonly autocomplete=\"off\" spellcheck=\"false\" id=\"secret\">tgp_1</textarea>"));
    // Without the script the button, which would do nothing, is not shown.
    CHECK(has(text, "data-copies=\"secret\" data-copied=\"Copied\" hidden>Copy"));
    CHECK_FALSE(has(text, "name=\"secret\""));
}
