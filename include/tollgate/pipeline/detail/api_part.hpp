#pragma once
#ifndef TOLLGATE_PIPELINE_DETAIL_API_PART_HPP
#define TOLLGATE_PIPELINE_DETAIL_API_PART_HPP

#include <tollgate/base/config.hpp>
#include <tollgate/contract/hook_store.hpp>
#include <tollgate/contract/token_store.hpp>
#include <tollgate/contract/user_directory.hpp>
#include <tollgate/http/handler.hpp>
#include <tollgate/pipeline/call.hpp>
#include <tollgate/pipeline/detail/api_definition.hpp>
#include <tollgate/pipeline/detail/row.hpp>
#include <tollgate/policy/policies.hpp>

#include <vector>

namespace tollgate::inline v0::pipeline {

/// The rows of an API: those of its route table, and the metadata of its resources.
class api_part final : public part {
public:
    /// Throws std::invalid_argument, as the constructor of `account_api` does.
    TOLLGATE_COLD api_part(account_service_settings&& settings, const user_directory_ref& users, const credential_source_ref& store,
                           const hook_store_ref& hooks, tollgate::policies policies, route_table&& table);

    [[nodiscard]] TOLLGATE_DECL bool serves(const http::request& request) const noexcept override;
    TOLLGATE_DECL void find_row(row_call& call) const override;
    [[nodiscard]] const account_service_settings& settings() const noexcept override { return definition_.settings; }
    TOLLGATE_COLD void refuse(const http::refusal& refused, http::response& response) const override;
    [[nodiscard]] bool may_block() const noexcept override { return may_block_; }

    [[nodiscard]] const api_definition& definition() const noexcept { return definition_; }
    [[nodiscard]] const tollgate::policies& policies() const noexcept { return policies_; }

private:
    friend struct api_rules;

    api_definition definition_;
    user_directory_ref users_;
    credential_source_ref store_;
    tollgate::policies policies_;
    owned<router_ref> router_;
    api_context context_;
    bool may_block_;
    std::vector<step> steps_;         // of the routes, in their order
    std::vector<row> rows_;           // of the routes, in their order
    std::vector<row> metadata_rows_;  // of the resources, in their order
    row unknown_row_, metadata_refusal_row_;
};

}  // namespace tollgate::pipeline

#if !defined(TOLLGATE_SEPARATE_COMPILATION)
#include <tollgate/pipeline/detail/api_part.ipp>
#endif

#endif  // TOLLGATE_PIPELINE_DETAIL_API_PART_HPP
