#include <support/oauth_shop.hpp>
#include <support/page_shop.hpp>
#include <support/shop.hpp>

using namespace tollgate::test;

// Each takes as long to compile as a test that uses it.
template class tollgate::account_api<shop_directory, tollgate::memory_store, shop::policies>;
template class tollgate::account_pages<shop_directory, shop_sessions, tollgate::memory_store, page_shop::policies>;
template class tollgate::authorization_server<site_sessions, faulty_store, oauth_shop<>::policies>;
