#pragma once

#include <tollgate/base/config.hpp>
#include <tollgate/base/time.hpp>
#include <tollgate/contract/page_words.hpp>
#include <tollgate/http/html_writer.hpp>
#include <tollgate/http/status.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tollgate::pipeline {

/// Scopes with what they let a program do, in the order in which people choose among them.
class scope_texts {
public:
    struct entry {
        std::string scope;
        std::string text;
    };

    void add(std::string scope, std::string text) { entries_.push_back({std::move(scope), std::move(text)}); }

    /// The scope itself for one that there is no longer.
    [[nodiscard]] std::string_view find(std::string_view scope) const noexcept {
        for (const entry& each : entries_)
            if (each.scope == scope) return each.text;
        return scope;
    }

    [[nodiscard]] const std::vector<entry>& entries() const noexcept { return entries_; }

private:
    std::vector<entry> entries_;
};

/// At least as long as it is: `40 seconds`, `3 minutes`, `2 hours`.
[[nodiscard]] TOLLGATE_DECL std::string duration_text(seconds of, const duration_words& words);

/// What a page says in place of the one that was asked for.
[[nodiscard]] TOLLGATE_DECL const message_words& message_for(http::status status, const error_words& words) noexcept;

TOLLGATE_DECL void write_message(http::html_writer& html, const message_words& said);

/// A day that people read and programs can, too: `<time datetime="2026-11-21T14:05:00Z">21 Nov 2026</time>`.
TOLLGATE_DECL void write_day(http::html_writer& html, instant at);

/// `21 Nov 2026, 14:05:09 UTC`
[[nodiscard]] TOLLGATE_DECL std::string moment_text(instant at);
/// The same in a `<time>`.
TOLLGATE_DECL void write_moment(http::html_writer& html, instant at);

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/page_text.ipp>
#endif
