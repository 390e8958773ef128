#include <support/oauth_shop.hpp>
#include <support/page_shop.hpp>
#include <support/shop.hpp>

using namespace tollgate_test;

// Each takes as long to compile as a test that uses it.
template class tollgate::account_api<shop_directory, tollgate::memory_store, shop::policies>;
template class tollgate::account_pages<shop_directory, tollgate::memory_store, shop_sessions, page_shop::policies>;
template class tollgate::authorization_server<faulty_store, site_sessions, oauth_shop<>::policies>;
