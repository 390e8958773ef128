#pragma once

// For Catch2 3: the header of Catch2 2.13, as far as these tests use it.

#include <catch2/catch_all.hpp>

#include <string>

namespace Catch {

struct TestEventListenerBase : EventListenerBase {
    using EventListenerBase::EventListenerBase;
};

using Matchers::EndsWith;
using Matchers::StartsWith;
using Matchers::UnorderedEquals;
inline auto Contains(const std::string& text) { return Matchers::ContainsSubstring(text); }

inline unsigned int rngSeed() { return getSeed(); }

}  // namespace Catch
