#include "base/encoded_size.hpp"

#include <string>

#include "support/catch.hpp"

namespace custodian::detail::encoded_size_test {
namespace {

/// The size of the ACL "world:anyone, all": its count (4), the permissions (4), the scheme (4 + 5)
/// and the id (4 + 6).
constexpr std::size_t of_open_acl = 27;

TEST_CASE("a request is its header and its fields, as the protocol has them", "[encoded_size]") {
  const std::string path = "/a/b";  // takes 4 + 4 bytes
  CHECK(encoded_size(request::Exists{path}) == 8 + 8 + 1);
  CHECK(encoded_size(request::Get{path}) == 8 + 8 + 1);
  CHECK(encoded_size(request::GetChildren{path}) == 8 + 8 + 1);
  CHECK(encoded_size(request::GetAcl{path}) == 8 + 8);
  CHECK(encoded_size(request::Sync{path}) == 8 + 8);
  CHECK(encoded_size(request::Remove{path}) == 8 + 8 + 4);
  CHECK(encoded_size(request::Set{path, "data"}) == 8 + 8 + 8 + 4);
  CHECK(encoded_size(request::SetAcl{path, open_acl()}) == 8 + 8 + of_open_acl + 4);
  CHECK(encoded_size(request::Create{.path = path, .data = "data", .acl = open_acl()}) ==
        8 + 8 + 8 + of_open_acl + 4);
}

TEST_CASE("a TTL is eight bytes of a create, and an ACL as many as its entries have",
          "[encoded_size]") {
  request::Create create{.path = "/a", .acl = {}};
  const std::size_t bare = encoded_size(create);
  create.mode = CreateMode::persistent_with_ttl;
  CHECK(encoded_size(create) == bare + 8);
  create.mode = CreateMode::ephemeral_sequential;
  CHECK(encoded_size(create) == bare);
  create.acl = {{Permissions::read, "digest", "joe:1234"}, {Permissions::all, "auth", ""}};
  CHECK(encoded_size(create) == bare + (4 + 10 + 12) + (4 + 8 + 4));
}

TEST_CASE("a transaction has a header for each operation, and one at the end", "[encoded_size]") {
  const request::Multi multi{{transaction::Check{"/a"}, request::Remove{"/a"},
                              request::Set{"/a", "1"},
                              request::Create{.path = "/a", .data = "1", .acl = open_acl()}}};
  const std::size_t check = 9 + 6 + 4;
  const std::size_t set = 9 + 6 + 5 + 4;
  const std::size_t create = 9 + 6 + 5 + of_open_acl + 4;
  CHECK(encoded_size(multi) == 8 + check + check + set + create + 9);
  CHECK(encoded_size(request::Multi{{transaction::Check{"/abc"}}}) == encoded_size_of_check(4));
}

TEST_CASE("a credential is a packet, too", "[encoded_size]") {
  CHECK(encoded_size(SessionSettings::Credential{"digest", "joe:secret"}) == 8 + 4 + 10 + 14);
}

}  // namespace
}  // namespace custodian::detail::encoded_size_test
