#pragma once

#include <tollgate/policy/register_application.hpp>

#include <tollgate/base/visible_text.hpp>
#include <tollgate/http/url.hpp>

namespace tollgate {

static_assert(limits::application_name_bytes_max == 100 && limits::application_description_bytes_max == 255 &&
                  limits::target_url_bytes_max == 2048,
              "the messages name the bounds");

TOLLGATE_DECL std::vector<field_fault> faults_of(const application_request& wanted) {
    std::vector<field_fault> faults;
    if (!is_visible_line(wanted.name, limits::application_name_bytes_max))
        faults.push_back({"name", "name must be a line of 1 to 100 bytes without control or invisible characters."});

    const auto website = http::url::parse(wanted.website);
    if (!website)
        faults.push_back({"website", "website must be an absolute http or https URL of at most 2048 bytes."});
    else if (website->has_user_info)
        faults.push_back({"website", "website must not hold a user name or password."});

    if (!wanted.description.empty() && !is_visible_line(wanted.description, limits::application_description_bytes_max))
        faults.push_back({"description", "description must be a line of at most 255 bytes without control or invisible characters."});

    if (wanted.redirect_url) {
        const auto redirect = http::url::parse(*wanted.redirect_url);
        if (!redirect)
            faults.push_back({"redirect_url", "redirect_url must be an absolute http or https URL of at most 2048 bytes."});
        else if (redirect->has_user_info)
            faults.push_back({"redirect_url", "redirect_url must not hold a user name or password."});
        else if (redirect->has_fragment)
            faults.push_back({"redirect_url", "redirect_url must not have a fragment (#)."});
    }
    return faults;
}

}  // namespace tollgate
