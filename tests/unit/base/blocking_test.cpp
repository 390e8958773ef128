#include <tollgate/base/blocking.hpp>

#include <catch2/catch.hpp>

using tollgate::may_block;

namespace {

struct silent {};
struct waits_never {
    static constexpr bool blocking = false;
};
struct waits {
    static constexpr bool blocking = true;
};
struct reports {
    bool value = false;
    [[nodiscard]] bool may_block() const noexcept { return value; }
};

/// Each inherits one and declares the other.
struct reports_after_all : waits {
    bool value = false;
    [[nodiscard]] bool may_block() const noexcept { return value; }
};
struct waits_after_all : reports {
    static constexpr bool blocking = true;
};
struct waits_never_after_all : reports {
    static constexpr bool blocking = false;
};
/// Inherits both, or declares the first again.
struct inherits_both : reports_after_all {};
struct waits_again : waits_never {
    static constexpr bool blocking = true;
};

template <class T>
bool reported(bool value) {
    T object;
    object.value = value;
    return may_block(object);
}

}  // namespace

TEST_CASE("a class declares whether it blocks, and one that does not may block", "[base][blocking]") {
    CHECK(may_block(silent{}));
    CHECK(may_block(waits{}));
    CHECK_FALSE(may_block(waits_never{}));
    CHECK(may_block(waits_again{}));
    for (const bool value : {false, true}) {
        CHECK(reported<reports>(value) == value);
        CHECK(reported<reports_after_all>(value) == value);
        CHECK(reported<inherits_both>(value) == value);
    }
}

TEST_CASE("what a class declares itself counts more than what it inherits", "[base][blocking]") {
    for (const bool value : {false, true}) {
        CHECK(reported<waits_after_all>(value));
        CHECK_FALSE(reported<waits_never_after_all>(value));
    }
}
