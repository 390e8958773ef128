#pragma once

#include <tollgate/http/url.hpp>
#include <tollgate/store/delivery_host.hpp>

namespace tollgate {

TOLLGATE_DECL std::string delivery_host(const std::string& target_url) {
    const auto url = http::url::parse(target_url);
    return url ? url->origin() : target_url;
}

}  // namespace tollgate
