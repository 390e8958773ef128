#pragma once

#include <tollgate/store/detail/postgres/batch.hpp>

#include <cstddef>
#include <vector>

namespace tollgate::inline v0::postgres {

/// One statement's values as libpq takes them; views of the batch.
struct wire_values {
    wire_values(const batch& of, const batch::statement& statement) {
        types.reserve(statement.value_count);
        values.reserve(statement.value_count);
        sizes.reserve(statement.value_count);
        for (std::size_t i = 0; i < statement.value_count; ++i) {
            const batch::value& each = of.value_at(statement.first_value + i);
            types.push_back(each.type);
            values.push_back(each.is_null ? nullptr : of.bytes_of(each));
            sizes.push_back(static_cast<int>(each.size));
        }
        formats.assign(statement.value_count, 1);  // binary
    }

    [[nodiscard]] int count() const noexcept { return static_cast<int>(types.size()); }

    std::vector<unsigned> types;
    std::vector<const char*> values;
    std::vector<int> sizes;
    std::vector<int> formats;
};

}  // namespace tollgate::postgres
