#pragma once

// What nearly every test includes and none of us changes. No header of ours: an edit would then rebuild every test.

#include <catch2/catch.hpp>

#include <asio.hpp>
#include <nlohmann/json.hpp>

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
