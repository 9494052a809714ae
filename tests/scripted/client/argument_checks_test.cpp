// The arguments that a client refuses before anything is sent, and the largest ones that it takes.

#include "client/argument_checks.hpp"

#include <functional>

#include "base/encoded_size.hpp"
#include "custodian/authoring/argument_checks.hpp"
#include "custodian/authoring/path.hpp"
#include "custodian/lease/revocation.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"

namespace custodian::tests::argument_checks_test {
namespace {

using namespace std::chrono_literals;
using detail::encoded_size;

/// A client that may send requests of so many bytes.
struct Checking {
  static constexpr std::size_t limit = 2000;

  Checking() {
    ClientOptions options = world.options("checking");
    options.max_request_size = limit;
    client = world.client(std::move(options));
  }
  ~Checking() { CHECK(world.end(client)); }
  Checking(const Checking&) = delete;
  Checking& operator=(const Checking&) = delete;

  [[nodiscard]] const CorePtr& core() const { return client->core(); }

  World world;
  std::unique_ptr<Client> client;
};

/// The message about a wrong argument; empty if the argument is accepted.
std::string fault_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    return error.what();
  }
  return {};
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

/// Checks that `most` bytes are accepted, and not one more.
void check_most(std::size_t most, const std::string& argument,
                const std::function<void(const std::string&)>& check_with) {
  CHECK(fault_of([&] { check_with(std::string(most, 'x')); }).empty());
  const std::string fault = fault_of([&] { check_with(std::string(most + 1, 'x')); });
  CHECK(has(fault, argument + ": "));
  CHECK(has(fault, " bytes are more than the servers accept (2000 bytes a request"));
}

TEST_CASE("argument checks: credentials have a scheme, and a digest a password") {
  const auto fault = [](ClientOptions::Credential credential) {
    return fault_of([&] { detail::check_credentials("a test", {credential}, Checking::limit); });
  };
  CHECK(has(fault({"", "user:password"}), "credentials: a scheme is empty"));
  CHECK(has(fault({"digest", "user"}), "credentials: a digest reads user:password"));
  CHECK(fault({"digest", "user:password"}).empty());
  CHECK(fault({"ip", "user"}).empty());
  const std::size_t most = Checking::limit - encoded_size(SessionSettings::Credential{"ip", ""});
  check_most(most, "credentials", [&](const std::string& text) {
    detail::check_credentials("a test", {{"ip", text}}, Checking::limit);
  });
  CHECK(has(fault({"ip", std::string(2000, 'x')}), "credentials: 2002 bytes"));
}

TEST_CASE("argument checks: a path that no request can have is too large") {
  const Checking with;
  CHECK(has(fault_of([&] { check_path(with.core(), "a test", "/a/"); }), "/a/"));
  const std::size_t most = Checking::limit - encoded_size(request::Exists{"/"});
  check_most(most, "path",
             [&](const std::string& name) { check_path(with.core(), "a test", "/" + name); });
}

TEST_CASE("argument checks: a contender's requests name its node twice") {
  const Checking with;
  const auto check = [&](const std::string& path, const std::string& identity) {
    check_contender(with.core(), "a test", path, "lock-", identity);
  };
  CHECK(has(fault_of([&] { check("/a//b", ""); }), "/a//b"));
  const std::string message{revoke_message};
  CHECK(has(fault_of([&] { check("/a", message); }), "identity: this is the message"));
  CHECK(fault_of([&] { check("/a", message + "!"); }).empty());
  const std::string node = "/a/_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000000";
  const request::Create create{.path = node, .acl = open_acl()};
  const request::Multi both{{transaction::Check{node}, create}};
  check_most(Checking::limit - encoded_size(both), "identity",
             [&](const std::string& identity) { check("/a", identity); });
}

TEST_CASE("argument checks: an identity is written with a request that names its node twice") {
  const Checking with;
  const request::Set set{"/a"};
  const std::size_t most = (Checking::limit - encoded_size(request::Multi{{set, set}})) / 2;
  check_most(most, "identity", [&](const std::string& identity) {
    detail::check_written_twice(*with.core(), "a test", "/a", identity);
  });
}

TEST_CASE("argument checks: a create that the servers would refuse is refused") {
  const Checking with;
  const auto fault = [&](const std::string& path, const CreateOptions& options) {
    return fault_of([&] { check_create(with.core(), path, "", options); });
  };
  CHECK(has(fault("/", {}), "path: the root exists already"));
  CHECK(fault("/", {.mode = CreateMode::ephemeral_sequential}).empty());
  CHECK(has(fault("/a/", {}), "/a/"));
  CHECK(fault("/a/", {.mode = CreateMode::persistent_sequential}).empty());
  CHECK(has(fault("/a", {.acl = Acl{}}), "acl: it has no entry"));
  CHECK(fault("/a", {.acl = open_acl()}).empty());
  CHECK(has(fault("/a", {.ttl = 5ms}), "ttl: only the modes with a TTL take one"));
  constexpr std::chrono::milliseconds longest{(std::int64_t{1} << 40) - 1};
  for (const CreateMode mode :
       {CreateMode::persistent_with_ttl, CreateMode::persistent_sequential_with_ttl}) {
    CHECK(has(fault("/a", {.mode = mode}), "ttl: a node with a TTL needs one"));
    CHECK(has(fault("/a", {.mode = mode, .ttl = longest + 1ms}), "2^40 - 1 ms"));
    CHECK(fault("/a", {.mode = mode, .ttl = 1ms}).empty());
    CHECK(fault("/a", {.mode = mode, .ttl = longest}).empty());
  }
}

TEST_CASE("argument checks: a create is as large as its path with all that is added to it") {
  const Checking with;
  const auto check = [&](const std::string& full_path, const CreateOptions& options) {
    const request::Create largest{.path = full_path, .mode = options.mode, .acl = open_acl()};
    check_most(Checking::limit - encoded_size(largest), "data",
               [&](const std::string& data) { check_create(with.core(), "/a/n-", data, options); });
  };
  const std::string id = "_c_01234567-89ab-cdef-0123-456789abcdef-";
  check("/a/n-", {});
  check("/a/n-0000000000", {.mode = CreateMode::persistent_sequential});
  check("/a/" + id + "n-", {.protection = Protection::by_unique_name});
  check("/a/" + id + "n-0000000000",
        {.mode = CreateMode::ephemeral_sequential, .protection = Protection::by_unique_name});
  // A path that is too large is the path's fault, and not that of the data.
  const std::string path = "/" + std::string(Checking::limit, 'x');
  CHECK(has(fault_of([&] { check_create(with.core(), path, "data", {}); }), "path: 2001 bytes"));
}

TEST_CASE("argument checks: an upsert is for a plain node") {
  const Checking with;
  const auto fault = [&](const UpsertOptions& options) {
    return fault_of([&] { check_upsert(with.core(), "/a", "", options); });
  };
  for (const CreateMode mode :
       {CreateMode::ephemeral, CreateMode::ephemeral_sequential, CreateMode::persistent_sequential,
        CreateMode::persistent_sequential_with_ttl}) {
    CHECK(has(fault({.mode = mode, .ttl = 1ms}), "neither numbered nor ephemeral"));
  }
  CHECK(fault({}).empty());
  CHECK(fault({.mode = CreateMode::persistent_with_ttl, .ttl = 1ms}).empty());
  CHECK(has(fault({.mode = CreateMode::persistent_with_ttl}), "ttl: "));
  CHECK(has(fault({.acl = Acl{}}), "acl: it has no entry"));
}

TEST_CASE("argument checks: a write, and a remove, are refused") {
  const Checking with;
  CHECK(has(fault_of([&] { check_set(with.core(), "a", ""); }), "must start with '/'"));
  check_most(Checking::limit - encoded_size(request::Set{"/a"}), "data",
             [&](const std::string& data) { check_set(with.core(), "/a", data); });
  const auto remove_fault = [&](const std::string& path, const RemoveOptions& options) {
    return fault_of([&] { check_remove(with.core(), path, options); });
  };
  CHECK_FALSE(remove_fault("/a/../b", {}).empty());
  CHECK(has(remove_fault("/", {}), "path: the root cannot be removed"));
  const RemoveOptions tree{.descendants = Descendants::are_removed};
  CHECK(remove_fault("/a", tree).empty());
  CHECK(has(remove_fault("/a", {.version = 1, .descendants = Descendants::are_removed}),
            "version: a tree is removed"));
  CHECK(remove_fault("/a", {.version = 1}).empty());
  check_most(Checking::limit - encoded_size(request::Remove{"/"}), "path",
             [&](const std::string& name) { check_remove(with.core(), "/" + name, {}); });
}

TEST_CASE("argument checks: a transaction is refused for any of its operations") {
  const Checking with;
  const auto fault = [&](const Transaction& transaction) {
    return fault_of([&] { check_commit(with.core(), transaction); });
  };
  CHECK(has(fault({}), "transaction: it has no operation"));
  CHECK(has(fault({check("/a"), create("/b", "", CreateMode::container)}), "mode: the C client"));
  CHECK(has(fault({create("/b", "", CreateMode::persistent_with_ttl)}), "mode: the C client"));
  CHECK(fault({check("/a"), create("/b/", "", CreateMode::ephemeral_sequential)}).empty());
  CHECK_FALSE(fault({create("/b/", "")}).empty());
  CHECK_FALSE(fault({check("/a"), custodian::remove("/b/")}).empty());
  CHECK_FALSE(fault({set("b", "")}).empty());
  const request::Multi all{{request::Create{.path = "/a", .acl = open_acl()}, request::Set{"/b"},
                            request::Remove{"/c"}, transaction::Check{"/d"}}};
  const std::size_t most = Checking::limit - encoded_size(all);
  const auto with_data = [&](const std::string& data, const std::string& other) {
    return fault({create("/a", data), set("/b", other), custodian::remove("/c"), check("/d")});
  };
  CHECK(with_data(std::string(most, 'x'), "").empty());
  CHECK(with_data("", std::string(most, 'x')).empty());
  CHECK(with_data("x", std::string(most - 1, 'x')).empty());
  CHECK(has(with_data("x", std::string(most, 'x')), "transaction: 2001 bytes"));
}

// Both forms of an operation refuse at once.
TEST_CASE("argument checks: an operation that is refused throws, and is not sent") {
  Checking with;
  Client& client = *with.client;
  with.world.ensemble.clear_history();
  const auto done = [](const auto&...) { FAIL("a handler was called"); };
  CHECK_FALSE(fault_of([&] { client.async_create("/", "", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_get("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_set("a", "", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_upsert("a", "", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_remove("/", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_exists("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_children("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_get_acl("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_set_acl("a", open_acl(), {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_sync("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_commit({}, OperationOptions{}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_get_and_watch("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_exists_and_watch("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.async_children_and_watch("a", {}, done); }).empty());
  CHECK_FALSE(fault_of([&] { client.create("/"); }).empty());
  CHECK_FALSE(fault_of([&] { client.get("a"); }).empty());
  CHECK_FALSE(fault_of([&] { client.set("a", ""); }).empty());
  CHECK_FALSE(fault_of([&] { client.upsert("a", ""); }).empty());
  CHECK_FALSE(fault_of([&] { client.remove("/"); }).empty());
  CHECK_FALSE(fault_of([&] { client.exists("a"); }).empty());
  CHECK_FALSE(fault_of([&] { client.children("a"); }).empty());
  CHECK_FALSE(fault_of([&] { client.get_acl("a"); }).empty());
  CHECK_FALSE(fault_of([&] { client.set_acl("a", open_acl()); }).empty());
  CHECK_FALSE(fault_of([&] { client.sync("a"); }).empty());
  CHECK_FALSE(fault_of([&] { client.commit({}); }).empty());
  CHECK_FALSE(fault_of([&] { client.get_and_watch("a"); }).empty());
  CHECK_FALSE(fault_of([&] { client.exists_and_watch("a"); }).empty());
  CHECK_FALSE(fault_of([&] { client.children_and_watch("a"); }).empty());
  with.world.settle();
  CHECK(with.world.ensemble.history().empty());
}

}  // namespace
}  // namespace custodian::tests::argument_checks_test
