#include <tollgate/manual/detail/template.hpp>

#include <catch2/catch.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

using namespace tollgate::manual;

namespace {

std::string filled(page_template markup) {
    const auto outer = template_values{}
                           .set("title", "outer")
                           .set("only_outer", "<&\"'>")
                           .set_template("heading", "<h1>{{title}}</h1>\n")
                           .set_template("broken", "{{#if title}}");
    const auto values = template_values{}
                            .set("title", "own")
                            .set("empty", "")
                            .set("braces", "{{title}}")
                            .set_flag("yes", true)
                            .set_flag("no", false)
                            .set_list("none", {})
                            .set_list("two", {template_values{}.set("each", "a").set("title", "first"), template_values{}.set("each", "b")});
    std::string out;
    fill(markup, values, outer, out);
    return out;
}

}  // namespace

TEST_CASE("templates are filled") {
    struct {
        page_template markup;
        std::string_view expected;
    } const cases[] = {
        {"", ""},
        {"<p>{ } {one} {}</p>\n", "<p>{ } {one} {}</p>\n"},
        {"{{title}}", "own"},
        {"{{title}}{{title}}}", "ownown}"},
        {"<a title=\"{{only_outer}}\">", "<a title=\"&lt;&amp;&quot;&#39;&gt;\">"},
        {"{{empty}}", ""},
        {"{{braces}}", "{{title}}"},
        {"{{#if yes}}a{{/if}}b", "ab"},
        {"{{#if no}}a{{/if}}b", "b"},
        {"{{#if yes}}a{{else}}b{{/if}}c", "ac"},
        {"{{#if no}}a{{else}}b{{/if}}c", "bc"},
        {"{{#if title}}a{{/if}}{{#if empty}}b{{/if}}{{#if two}}c{{/if}}{{#if none}}d{{/if}}", "ac"},
        {"{{#if yes}}{{#if no}}a{{else}}b{{/if}}{{else}}c{{/if}}", "b"},
        {"{{#if no}}{{#if yes}}a{{else}}b{{/if}}{{else}}c{{/if}}", "c"},
        {"{{#if no}}{{unknown}}{{#if unknown}}{{/if}}{{#each unknown}}{{/each}}{{>unknown}}{{/if}}", ""},
        {"{{#each two}}{{each}} of {{title}}, {{/each}}.", "a of first, b of own, ."},
        {"{{#each none}}{{each}}{{/each}}.", "."},
        {"{{#each two}}{{#each two}}{{each}}{{/each}} {{/each}}", "ab ab "},
        {"{{#each two}}{{#if title}}{{each}}{{/if}}{{/each}}", "ab"},
        {"{{>heading}}", "<h1>own</h1>\n"},
        {"{{#each two}}{{>heading}}{{/each}}", "<h1>first</h1>\n<h1>own</h1>\n"},
        // Lines that consist of one tag.
        {"a\n{{#if yes}}\nb\n{{else}}\nc\n{{/if}}\nd\n", "a\nb\nd\n"},
        {"<ul>\n{{#each two}}\n<li>{{each}}</li>\n{{/each}}\n</ul>\n", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n"},
        {"{{>heading}}\n<p>\n", "<h1>own</h1>\n<p>\n"},
        {"{{title}}\n", "own\n"},
        {"a {{#if yes}}\nb{{/if}}\n", "a \nb\n"},
    };
    for (const auto& each : cases) {
        INFO(each.markup.text());
        CHECK(filled(each.markup) == each.expected);
    }
}

TEST_CASE("faulty templates are refused") {
    const page_template cases[] = {
        "{{unknown}}", "{{#if unknown}}{{/if}}", "{{#each unknown}}{{/each}}", "{{>unknown}}", "{{}}", "{{title", "{{title}",
        "{{#if yes}}", "{{#if no}}", "{{#if yes}}{{/each}}", "{{#if yes}}{{else}}{{else}}{{/if}}", "{{#each two}}", "{{#each none}}",
        "{{#each two}}{{/if}}", "{{#each two}}{{else}}{{/each}}", "{{/if}}", "{{/each}}", "{{else}}", "{{#unless yes}}{{/unless}}",
        "{{#if no}}{{#unless yes}}{{/unless}}{{/if}}", "{{>broken}}",
    };
    for (const auto& each : cases) {
        INFO(each.text());
        CHECK_THROWS_AS(filled(each), std::logic_error);
    }
}
