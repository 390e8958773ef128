#pragma once

// What nearly every test includes: it halves the time that a test takes to compile. No header of ours, so that an edit does
// not rebuild every test; neither Asio nor nlohmann/json, which cost each test more than the few that use them save.

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>
