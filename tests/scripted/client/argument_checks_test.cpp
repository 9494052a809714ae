// What a client refuses before it sends anything, in the blocking and in the asynchronous form.

#include <functional>
#include <string>
#include <vector>

#include "base/encoded_size.hpp"
#include "scripted/world.hpp"
#include "support/catch.hpp"
#include "unit/refusal.hpp"

namespace custodian::tests::argument_checks_test {
namespace {

using namespace std::chrono_literals;
using Ms = std::chrono::milliseconds;

constexpr std::size_t limit = 1024;
constexpr Ms longest_ttl{(std::int64_t{1} << 40) - 1};

/// The sizes of requests without paths and data; encoded_size_test.cpp explains the numbers.
constexpr std::size_t of_read = 8 + 4 + 1;
constexpr std::size_t of_set = 8 + 4 + 4 + 4;
constexpr std::size_t of_remove = 8 + 4 + 4;
constexpr std::size_t of_open_acl = 27;
constexpr std::size_t of_create = 8 + 4 + 4 + of_open_acl + 4;

const auto ignored = [](error_code, auto&&...) {};

std::string bytes(std::size_t size) { return std::string(size, 'x'); }
std::string path_of(std::size_t size) { return "/" + bytes(size - 1); }

/// A client of the namespace "/app" whose servers accept little.
struct Fixture {
  Fixture() {
    ClientOptions options = world.options("client");
    options.name_space = "app";
    options.max_request_size = limit;
    world.make("/app");
    client = world.client(options);
  }
  ~Fixture() {
    CHECK(world.run_until_idle(*client));
    CHECK(world.end(client));
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  World world;
  std::unique_ptr<Client> client;
};

/// Whether a call is not refused for its arguments.
bool passes(const std::function<void()>& call) {
  try {
    call();
    return true;
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    return false;
  }
}

std::string too_large(const std::string& argument, std::size_t size) {
  return argument + ": " + std::to_string(size) + " bytes are more than the servers accept (" +
         std::to_string(limit) +
         " bytes a request; raise their jute.maxbuffer and ClientOptions::max_request_size, or use "
         "less)";
}

TEST_CASE("argument checks: a create is refused by the argument that is wrong") {
  Fixture with;
  Client& client = *with.client;
  struct Case {
    std::string path;
    CreateOptions options;
    std::string rule;
  };
  const std::string no_ttl = "ttl: only the modes with a TTL take one";
  const std::string bad_ttl = "ttl: a node with a TTL needs one between 1 ms and 2^40 - 1 ms";
  using enum CreateMode;
  for (const auto& [path, options, rule] :
       std::vector<Case>{{"/", {}, "path: the root exists already"},
                         {"/", {.mode = ephemeral}, "path: the root exists already"},
                         {"/a/", {}, "path must not end in '/', at byte 2"},
                         {"/a", {.acl = Acl{}}, "acl: it has no entry"},
                         {"/a", {.ttl = 1ms}, no_ttl},
                         {"/a", {.ttl = -1ms}, no_ttl},
                         {"/a", {.mode = container, .ttl = 1ms}, no_ttl},
                         {"/a", {.mode = persistent_with_ttl}, bad_ttl},
                         {"/a", {.mode = persistent_with_ttl, .ttl = -1ms}, bad_ttl},
                         {"/a", {.mode = persistent_with_ttl, .ttl = longest_ttl + 1ms}, bad_ttl},
                         {"/a", {.mode = persistent_sequential_with_ttl}, bad_ttl}}) {
    CAPTURE(path, rule);
    check_refused([&] { return client.create(path, "", options); }, "create", rule);
    check_refused(
        [&] {
          client.async_create(path, "", options, ignored);
          return 0;
        },
        "create", rule);
  }
}

TEST_CASE(
    "argument checks: the least and the longest TTL pass, and a sequential child of the root") {
  Fixture with;
  const auto created = [&](const std::string& path, const CreateOptions& options) {
    return run<Created>(with.world,
                        [&](auto done) { with.client->async_create(path, "", options, done); })
        .error();
  };
  using enum CreateMode;
  CHECK_FALSE(created("/a", {.mode = persistent_with_ttl, .ttl = 1ms}));
  CHECK_FALSE(created("/b", {.mode = persistent_with_ttl, .ttl = longest_ttl}));
  CHECK_FALSE(created("/", {.mode = persistent_sequential}));
  CHECK_FALSE(created("/a/", {.mode = persistent_sequential}));
}

TEST_CASE("argument checks: an upsert is refused as a create is, and for modes that it has not") {
  Fixture with;
  Client& client = *with.client;
  struct Case {
    std::string path;
    UpsertOptions options;
    std::string rule;
  };
  const std::string mode = "mode: a node that is written again is neither numbered nor ephemeral";
  using enum CreateMode;
  for (const auto& [path, options, rule] :
       std::vector<Case>{{"/a", {.mode = ephemeral}, mode},
                         {"/a", {.mode = persistent_sequential}, mode},
                         {"/a", {.mode = ephemeral_sequential}, mode},
                         {"/a", {.mode = persistent_sequential_with_ttl, .ttl = 1ms}, mode},
                         {"/", {}, "path: the root exists already"},
                         {"/a/", {}, "path must not end in '/', at byte 2"},
                         {"/a", {.acl = Acl{}}, "acl: it has no entry"},
                         {"/a", {.ttl = 1ms}, "ttl: only the modes with a TTL take one"},
                         {"/a",
                          {.mode = persistent_with_ttl},
                          "ttl: a node with a TTL needs one between 1 ms and 2^40 - 1 ms"}}) {
    CAPTURE(path, rule);
    check_refused([&] { return client.upsert(path, "", options); }, "upsert", rule);
    check_refused(
        [&] {
          client.async_upsert(path, "", options, ignored);
          return 0;
        },
        "upsert", rule);
  }
  const std::size_t most = limit - of_create - std::string{"/app/a"}.size();
  check_refused([&] { return client.upsert("/a", bytes(most + 1)); }, "upsert",
                too_large("data", most + 1));
  CHECK(passes([&] { client.async_upsert("/a", bytes(most), {}, ignored); }));
}

TEST_CASE("argument checks: a removal is refused for the root, and for a version of a whole tree") {
  Fixture with;
  Client& client = *with.client;
  const auto refused = [&](const std::string& path, RemoveOptions options,
                           const std::string& rule) {
    check_refused(
        [&] {
          client.remove(path, options);
          return 0;
        },
        "remove", rule);
    check_refused(
        [&] {
          client.async_remove(path, options, ignored);
          return 0;
        },
        "remove", rule);
  };
  refused("/", {}, "path: the root cannot be removed");
  refused("a", {}, "path must start with '/', at byte 0");
  refused("/a", {.version = 0, .descendants = Descendants::are_removed},
          "version: a tree is removed whatever its version is");
  CHECK(passes([&] { client.async_remove("/a", {.version = 0}, ignored); }));
  CHECK(passes(
      [&] { client.async_remove("/a", {.descendants = Descendants::are_removed}, ignored); }));
  const std::size_t most = limit - of_remove - 4;  // the namespace takes four bytes
  CHECK(passes([&] { client.async_remove(path_of(most), {}, ignored); }));
  refused(path_of(most + 1), {}, too_large("path", most + 1));
}

TEST_CASE("argument checks: each read, and each other request of a path alone, checks it") {
  Fixture with;
  Client& client = *with.client;
  const std::size_t most = limit - of_read - 4;
  using Blocking = std::function<void(const std::string&)>;
  struct Form {
    std::string operation;
    Blocking blocking;
    Blocking async;
  };
  const std::vector<Form> forms{
      {"get", [&](auto path) { static_cast<void>(client.get(path)); },
       [&](auto path) { client.async_get(path, {}, ignored); }},
      {"exists", [&](auto path) { static_cast<void>(client.exists(path)); },
       [&](auto path) { client.async_exists(path, {}, ignored); }},
      {"children", [&](auto path) { static_cast<void>(client.children(path)); },
       [&](auto path) { client.async_children(path, {}, ignored); }},
      {"get_acl", [&](auto path) { static_cast<void>(client.get_acl(path)); },
       [&](auto path) { client.async_get_acl(path, {}, ignored); }},
      {"set_acl", [&](auto path) { client.set_acl(path, open_acl()); },
       [&](auto path) { client.async_set_acl(path, open_acl(), {}, ignored); }},
      {"sync", [&](auto path) { client.sync(path); },
       [&](auto path) { client.async_sync(path, {}, ignored); }},
      {"get", [&](auto path) { static_cast<void>(client.get_and_watch(path)); },
       [&](auto path) { client.async_get_and_watch(path, {}, ignored); }},
      {"exists", [&](auto path) { static_cast<void>(client.exists_and_watch(path)); },
       [&](auto path) { client.async_exists_and_watch(path, {}, ignored); }},
      {"children", [&](auto path) { static_cast<void>(client.children_and_watch(path)); },
       [&](auto path) { client.async_children_and_watch(path, {}, ignored); }}};
  for (const Form& form : forms) {
    CAPTURE(form.operation);
    for (const Blocking& call : {form.blocking, form.async}) {
      const auto refused = [&](const std::string& path, const std::string& rule) {
        check_refused(
            [&] {
              call(path);
              return 0;
            },
            form.operation, rule);
      };
      refused("a", "path must start with '/', at byte 0");
      refused("/a/", "path must not end in '/', at byte 2");
      refused(path_of(most + 1), too_large("path", most + 1));
    }
    // A request may be a little smaller or larger than an exists, and is judged as that.
    CHECK(passes([&] { form.async("/"); }));
    CHECK(passes([&] { form.async(path_of(most)); }));
  }
}

TEST_CASE("argument checks: a create is as large as its longest path makes it") {
  Fixture with;
  Client& client = *with.client;
  constexpr std::size_t of_protection = 3 + 36 + 1;
  struct Case {
    CreateOptions options;
    std::size_t more;
  };
  using enum CreateMode;
  for (const auto& [options, more] :
       std::vector<Case>{{{}, 0},
                         {{.mode = persistent_sequential}, 10},
                         {{.protection = Protection::by_unique_name}, of_protection},
                         {{.mode = ephemeral_sequential, .protection = Protection::by_unique_name},
                          of_protection + 10},
                         {{.mode = persistent_with_ttl, .ttl = 1s}, 8},
                         {{.acl = Acl{AclEntry{}, AclEntry{}}}, of_open_acl - 4}}) {
    CAPTURE(more);
    const std::size_t most = limit - of_create - std::string{"/app/a"}.size() - more;
    CHECK(passes(
        [&, options = options] { client.async_create("/a", bytes(most), options, ignored); }));
    check_refused([&, options = options] { return client.create("/a", bytes(most + 1), options); },
                  "create", too_large("data", most + 1));
    // If the path alone is too long, it is to blame.
    const std::size_t longest = most + std::string{"/a"}.size();
    check_refused(
        [&, options = options] { return client.create(path_of(longest + 1), "x", options); },
        "create", too_large("path", longest + 1));
    check_refused([&, options = options] { return client.create(path_of(longest), "x", options); },
                  "create", too_large("data", 1));
  }
}

TEST_CASE("argument checks: a set of as much as servers accept passes, and no byte more") {
  Fixture with;
  Client& client = *with.client;
  const std::size_t most = limit - of_set - std::string{"/app/a"}.size();
  CHECK(passes([&] { client.async_set("/a", bytes(most), {}, ignored); }));
  check_refused([&] { return client.set("/a", bytes(most + 1)); }, "set",
                too_large("data", most + 1));
  check_refused(
      [&] {
        client.async_set("/a", bytes(most + 1), {}, ignored);
        return 0;
      },
      "set", too_large("data", most + 1));
  check_refused([&] { return client.set("a", ""); }, "set", "path must start with '/', at byte 0");
}

TEST_CASE("argument checks: each operation of a transaction is checked") {
  Fixture with;
  Client& client = *with.client;
  const auto refused = [&](const Transaction& transaction, const std::string& rule) {
    CAPTURE(rule);
    check_refused([&] { return client.commit(transaction); }, "commit", rule);
    check_refused(
        [&] {
          client.async_commit(transaction, {}, ignored);
          return 0;
        },
        "commit", rule);
  };
  refused({}, "transaction: it has no operation");
  const std::string mode =
      "mode: the C client cannot create containers or nodes with a TTL in a transaction";
  const std::string bad_end = "path must not end in '/', at byte 2";
  using enum CreateMode;
  for (const CreateMode each : {container, persistent_with_ttl, persistent_sequential_with_ttl}) {
    refused({check("/a"), create("/b", "", each)}, mode);
  }
  refused({create("/a/")}, bad_end);
  refused({set("/a/", "")}, bad_end);
  refused({remove("/a/")}, bad_end);
  refused({check("/"), check("/a/")}, bad_end);
  CHECK(passes([&] {
    client.async_commit({create("/a", "", ephemeral), create("/a/", "", ephemeral_sequential)}, {},
                        ignored);
  }));
}

TEST_CASE("argument checks: a transaction is as large as its operations together") {
  Fixture with;
  Client& client = *with.client;
  constexpr std::size_t of_multi_header = 9;
  const std::size_t of_path = std::string{"/app/a"}.size();
  struct Case {
    std::function<Transaction(std::string data)> make;
    std::size_t operations;  ///< their size without the data
  };
  for (const auto& [make, operations] : std::vector<Case>{
           {[](std::string data) { return Transaction{create("/a", std::move(data))}; },
            of_create - 8 + of_multi_header + of_path},
           {[](std::string data) { return Transaction{set("/a", std::move(data))}; },
            of_set - 8 + of_multi_header + of_path},
           {[](std::string data) {
              return Transaction{check("/a"), remove("/a"), set("/a", "1"),
                                 set("/a", std::move(data))};
            },
            2 * (of_remove - 8) + 2 * (of_set - 8) + 1 + 4 * (of_multi_header + of_path)},
           {[](std::string data) {
              return Transaction{create("/a", std::move(data), CreateMode::persistent,
                                        Acl{AclEntry{}, AclEntry{}})};
            },
            of_create - 8 + of_open_acl - 4 + of_multi_header + of_path}}) {
    CAPTURE(operations);
    const std::size_t most = limit - 8 - of_multi_header - operations;
    CHECK(passes([&, make = make] { client.async_commit(make(bytes(most)), {}, ignored); }));
    check_refused([&, make = make] { return client.commit(make(bytes(most + 1))); }, "commit",
                  too_large("transaction", limit + 1));
  }
}

TEST_CASE("argument checks: servers that are set later have no chroot, and no TLS that is new") {
  Fixture with;
  const auto refused = [&](const std::string& servers, const std::string& rule) {
    check_refused(
        [&] {
          with.client->set_servers(servers);
          return 0;
        },
        "set_servers", rule);
  };
  refused("zk1/app", "servers: a chroot cannot change while the client lives");
  refused("secure://zk1", "servers: a client that began without TLS cannot change to it");
  CHECK(passes([&] { with.client->set_servers("zk1"); }));
}

TEST_CASE("argument checks: credentials that are set later are checked") {
  Fixture with;
  const auto set = [&](std::string scheme, std::string value) {
    with.client->set_credentials({{"ip", ""}, {std::move(scheme), std::move(value)}});
    return 0;
  };
  check_refused([&] { return set("", "x"); }, "set_credentials", "credentials: a scheme is empty");
  check_refused([&] { return set("digest", "x"); }, "set_credentials",
                "credentials: a digest reads user:password");
  CHECK(passes([&] { set("digest", "x:"); }));
}

TEST_CASE("argument checks: a view's namespace is checked, and told") {
  Fixture with;
  CHECK(with.client->with_namespace("team").name_space() == "/team");
  check_refused([&] { return with.client->with_namespace("/team/"); }, "with_namespace",
                "name_space: must not end in '/', at byte 5");
}

}  // namespace
}  // namespace custodian::tests::argument_checks_test
