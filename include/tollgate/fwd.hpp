#pragma once
#ifndef TOLLGATE_FWD_HPP
#define TOLLGATE_FWD_HPP

/// Declares the classes that programs hold as members, for headers that only name them by pointer or reference. It includes nothing.
namespace tollgate::inline v0 {

class account_api;
class account_pages;
class account_service;
class any_page_theme;
class any_store;
class authorization_server;
class hook_dispatcher;
class memory_store;
class policies;
class postgres_store;
class redis_limiter;
class route_table;
class server;
class sqlite_store;
struct account_service_settings;
struct server_settings;

namespace http {
class handler_ref;
class response;
class site;
struct request;
}  // namespace http

}  // namespace tollgate

#endif  // TOLLGATE_FWD_HPP
