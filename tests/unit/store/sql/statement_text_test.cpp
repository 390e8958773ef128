#include <tollgate/store/detail/sql/statement_text.hpp>

#include <tollgate/store/detail/sql/statements.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace tollgate;

TEST_CASE("SQLite gets a text without row locks and array searches", "[store][sql]") {
    struct example {
        std::string text, expected;
    };
    for (const auto& [text, expected] : {
             example{"SELECT a FROM t WHERE b = $1 FOR UPDATE", "SELECT a FROM t WHERE b = $1"},
             example{"SELECT a FROM t WHERE b = $1 FOR NO KEY UPDATE OF t, u SKIP LOCKED", "SELECT a FROM t WHERE b = $1"},
             example{"DELETE FROM t WHERE id = ANY (ARRAY(SELECT id FROM t LIMIT $1 FOR UPDATE SKIP LOCKED)) AND b = $2",
                     "DELETE FROM t WHERE id IN (SELECT id FROM t LIMIT $1) AND b = $2"},
             example{"DELETE FROM t WHERE id = ANY (ARRAY(SELECT id FROM t WHERE a = (SELECT max(a) FROM u) OFFSET $1)) AND (b OR c)",
                     "DELETE FROM t WHERE id IN (SELECT id FROM t WHERE a = (SELECT max(a) FROM u) OFFSET $1) AND (b OR c)"},
             example{"UPDATE t SET a = (SELECT max(a) FROM u) WHERE b IN ($1, $2)",
                     "UPDATE t SET a = (SELECT max(a) FROM u) WHERE b IN ($1, $2)"},
         })
        CHECK(sql::without_locks(text) == expected);
}

TEST_CASE("only texts for both databases are changed for SQLite", "[store][sql]") {
    CHECK(sql::statement_text{sql::statements::trim_codes}.is_shared());
    CHECK_FALSE(sql::statement_text{"SELECT ' FOR UPDATE'"}.is_shared());
}
