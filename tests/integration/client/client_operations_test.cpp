#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <future>

#include "support/test_client.hpp"

namespace custodian::tests::client_operations_test {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

TEST_CASE("a node is created, read, written and removed") {
  TestClient client{"crud"};
  const Created created = client->create("/a", "one");
  CHECK(created.path == "/a");
  CHECK(created.stat.version == 0);
  CHECK(created.stat.ephemeral_owner == 0);
  CHECK(client->get("/a").data == "one");
  CHECK(client->set("/a", "two").version == 1);
  CHECK(client->get("/a").data == "two");
  REQUIRE(client->exists("/a"));
  CHECK(client->exists("/a")->data_length == 3);
  client->remove("/a");
  CHECK_FALSE(client->exists("/a"));
}

TEST_CASE("each mode makes the node that it names") {
  TestClient client{"modes"};
  const std::int64_t session = (client->wait_connected(), client->session().id);
  CHECK(client->create("/e", "", {.mode = CreateMode::ephemeral}).stat.ephemeral_owner == session);
  CHECK(client->create("/s-", "", {.mode = CreateMode::persistent_sequential}).path ==
        "/s-0000000001");
  const Created both = client->create("/es-", "", {.mode = CreateMode::ephemeral_sequential});
  CHECK(both.path == "/es-0000000002");
  CHECK(both.stat.ephemeral_owner == session);
  CHECK(client->create("/c", "", {.mode = CreateMode::container}).path == "/c");
  CHECK(client->create("/t", "", {.mode = CreateMode::persistent_with_ttl, .ttl = 1h}).path ==
        "/t");
  CHECK(client->create("/dir", "").path == "/dir");
  CHECK(client->create("/dir/", "", {.mode = CreateMode::persistent_sequential}).path ==
        "/dir/0000000000");
}

TEST_CASE("data may be empty, binary or large, and is not cut") {
  TestClient client{"data"};
  const std::string binary("\0\1\xff zero\0", 9);
  client->create("/binary", binary);
  CHECK(client->get("/binary").data == binary);
  client->create("/empty", "");
  CHECK(client->get("/empty").data.empty());
  const std::string large(1'000'000, 'x');
  client->create("/large", large);
  CHECK(client->get("/large").data == large);
}

TEST_CASE("a protected create has a unique name, and parents come as they are missed") {
  TestClient client{"protected"};
  const Created node = client->create("/p/q/r/lock-", "me",
                                      {.mode = CreateMode::ephemeral_sequential,
                                       .protection = Protection::by_unique_name,
                                       .parents = Parents::created_as_containers});
  CHECK(node.path.starts_with("/p/q/r/_c_"));
  CHECK(node.path.ends_with("-lock-0000000000"));
  CHECK(client->children("/p/q/r").names.size() == 1);
  CHECK(error_of([&] { client->create("/x/y"); }) == ServerErrc::no_node);
}

TEST_CASE("a version is insisted on") {
  TestClient client{"versions"};
  client->create("/v", "0");
  client->set("/v", "1", {.version = 0});
  CHECK(error_of([&] { client->set("/v", "2", {.version = 0}); }) == ServerErrc::bad_version);
  CHECK(error_of([&] { client->remove("/v", {.version = 7}); }) == ServerErrc::bad_version);
  client->remove("/v", {.version = 1});
}

TEST_CASE("removal is quiet, or takes the tree, when told so") {
  TestClient client{"removal"};
  CHECK(error_of([&] { client->remove("/none"); }) == ServerErrc::no_node);
  client->remove("/none", {.missing = Missing::is_fine});
  client->create("/t/a/b/c", "", {.parents = Parents::created_as_containers});
  client->create("/t/a/d", "");
  CHECK(error_of([&] { client->remove("/t"); }) == ServerErrc::not_empty);
  client->remove("/t", {.descendants = Descendants::are_removed});
  CHECK_FALSE(client->exists("/t"));
}

TEST_CASE("a transaction is applied whole, or not at all") {
  TestClient client{"transaction"};
  client->create("/x", "0");
  const auto results = client->commit(
      {check("/x"), set("/x", "1"), create("/s-", "n", CreateMode::ephemeral_sequential)});
  REQUIRE(results.size() == 3);
  CHECK(results[1].stat.version == 1);
  CHECK(results[2].path == "/s-0000000001");
  CHECK(client->get("/s-0000000001").data == "n");

  auto failing = begun<std::vector<TransactionResult>>([&](auto done) {
    client->async_commit({set("/x", "2"), check("/x", 99), remove("/x")}, {}, done);
  });
  const auto [error, what] = failing.get();
  CHECK(error == ServerErrc::bad_version);
  REQUIRE(what.size() == 3);
  CHECK(what[1].error == ServerErrc::bad_version);
  CHECK(client->get("/x").data == "1");
}

TEST_CASE("an ACL is set and read, and keeps strangers out") {
  TestClient client{"acl"};
  client->create("/open");
  CHECK(client->get_acl("/open") == open_acl());
  client->create("/closed", "", {.acl = read_acl()});
  CHECK(client->get_acl("/closed") == read_acl());
  CHECK(error_of([&] { client->set("/closed", "x"); }) == ServerErrc::no_auth);
  CHECK(error_of([&] { client->create("/none", "", {.acl = creator_all_acl()}); }) ==
        ServerErrc::invalid_acl);

  ClientOptions options = options_for(connect_string());
  options.name_space = client.root();
  options.credentials = {{"digest", "ann:secret"}};
  options.acl_provider = [](std::string_view) { return creator_all_acl(); };
  Client ann{options};
  ann.create("/hers", "mine");
  CHECK(ann.get("/hers").data == "mine");
  CHECK(error_of([&] { static_cast<void>(client->get("/hers")); }) == ServerErrc::no_auth);
  ann.remove("/hers");
}

TEST_CASE("a namespace and a chroot are put before every path and taken off again") {
  TestClient client{"prefix"};
  client->create("/chroot");
  ClientOptions options = options_for(connect_string() + client.root() + "/chroot");
  options.name_space = "team/app";
  Client inner{options};
  CHECK(inner.create("/s-", "", {.mode = CreateMode::persistent_sequential}).path ==
        "/s-0000000000");
  CHECK(client->exists("/chroot/team/app/s-0000000000"));
  CHECK(inner.children("/").names == std::vector<std::string>{"s-0000000000"});
}

TEST_CASE("a watch fires once, for what happened after the read") {
  TestClient client{"watch"};
  client->create("/w", "0");
  {
    auto [result, watch] = client->get_and_watch("/w");
    CHECK(result.data == "0");
    client->set("/w", "1");
    CHECK(watch.wait() == WatchEventType::data_changed);
  }
  {
    auto [children, watch] = client->children_and_watch("/w");
    CHECK(children.names.empty());
    client->create("/w/child");
    CHECK(watch.wait() == WatchEventType::children_changed);
    client->remove("/w/child");
  }
  {
    auto [stat, watch] = client->exists_and_watch("/later");
    CHECK_FALSE(stat);
    client->create("/later");
    CHECK(watch.wait() == WatchEventType::created);
  }
  auto [result, watch] = client->get_and_watch("/w");
  client->remove("/w");
  CHECK(watch.wait() == WatchEventType::deleted);
  CHECK(eventually([&] { return client->load().watches == 0; }));
}

TEST_CASE("a watch that is given up comes off the server, unless somebody else wants it") {
  TestClient client{"unwatch"};
  client->create("/w");
  auto first = std::optional{client->get_and_watch("/w").second};
  auto second = std::optional{client->get_and_watch("/w").second};
  first.reset();
  client->set("/w", "1");
  CHECK(second->wait() == WatchEventType::data_changed);
  second.reset();

  auto third = std::optional{client->get_and_watch("/w").second};
  const std::int64_t session = client->session().id;
  third.reset();
  CHECK(eventually([&] { return client->load().watches == 0; }));
  if (!servers_are_foreign()) {
    CHECK(eventually([&] { return !own_server().watches_by_session().contains(session); }));
  }
}

TEST_CASE("a wait for a watch is cancelled, and the watch is still good") {
  TestClient client{"watch-cancel"};
  client->create("/w");
  auto [result, watch] = client->get_and_watch("/w");
  std::stop_source stop;
  std::thread stopper{[&] { stop.request_stop(); }};
  error_code error;
  try {
    watch.wait(stop.get_token());
  } catch (const Error& caught) {
    error = caught.code();
  }
  stopper.join();
  CHECK(error == asio::error::operation_aborted);
  client->set("/w", "1");
  CHECK(watch.wait() == WatchEventType::data_changed);
}

asio::awaitable<std::string> copy(Client* client) {
  std::string path = "/from";
  const GetResult result =
      co_await client->async_get(std::move(path), OperationOptions{}, asio::use_awaitable);
  std::string target = "/to";
  const Created created = co_await client->async_create(std::move(target), result.data,
                                                        CreateOptions{}, asio::use_awaitable);
  co_return created.path;
}

TEST_CASE("operations serve coroutines, callbacks and futures") {
  TestClient client{"tokens"};
  client->create("/from", "payload");
  asio::io_context context;
  std::string path;
  asio::co_spawn(context, copy(&*client),
                 [&](std::exception_ptr, std::string created) { path = std::move(created); });
  context.run();
  CHECK(path == "/to");

  std::promise<std::string> called;
  client->async_get("/to", {}, [&](error_code error, GetResult result) {
    called.set_value(error ? error.message() : result.data);
  });
  CHECK(called.get_future().get() == "payload");

  auto future = client->async_exists("/to", {}, asio::use_future);
  CHECK(future.get().has_value());
}

TEST_CASE("a handler runs on its own executor, and never inside the call") {
  TestClient client{"executor"};
  asio::io_context context;
  std::thread::id ran_on;
  client->async_exists("/", {}, asio::bind_executor(context, [&](error_code, auto) {
                         ran_on = std::this_thread::get_id();
                       }));
  CHECK(ran_on == std::thread::id{});
  context.run_for(patience);
  CHECK(ran_on == std::this_thread::get_id());
}

TEST_CASE("a blocking call on a thread of the client's own is refused") {
  TestClient client{"own-thread"};
  std::promise<error_code> result;
  client->async_exists("/", {}, [&](error_code, auto) {
    result.set_value(error_of([&] { static_cast<void>(client->exists("/")); }));
  });
  CHECK(result.get_future().get() == Errc::would_deadlock);
}

TEST_CASE("a blocking call on a thread of the caller's context is refused, also behind a strand") {
  asio::thread_pool pool{1};
  const bool is_behind_strand = GENERATE(false, true);
  CAPTURE(is_behind_strand);
  const asio::any_io_executor executor =
      is_behind_strand ? asio::any_io_executor{asio::make_strand(pool.get_executor())}
                       : asio::any_io_executor{pool.get_executor()};
  {
    Client client{executor, options_for(connect_string())};
    auto refused = asio::post(executor, asio::use_future([&] {
                                return error_of([&] { static_cast<void>(client.exists("/")); });
                              }));
    REQUIRE(refused.wait_for(patience) == std::future_status::ready);
    CHECK(refused.get() == Errc::would_deadlock);
  }
  pool.join();
}

TEST_CASE("bad input is refused at once, naming the argument and the rule") {
  TestClient client{"bad-input"};
  for (const char* path : {"", "relative", "/a/", "//", "/a//b", "/a/./b", "/a/../b", "/a\x01"}) {
    CAPTURE(path);
    CHECK(error_of([&] { static_cast<void>(client->get(path)); }) == Errc::invalid_argument);
    CHECK(error_of([&] { client->create(path, ""); }) == Errc::invalid_argument);
  }
  CHECK(error_of([&] {
          static_cast<void>(client->get(std::string{"/a\0b", 4}));
        }) == Errc::invalid_argument);
  CHECK(error_of([&] { client->remove("/"); }) == Errc::invalid_argument);
  CHECK(error_of([&] { client->commit({}); }) == Errc::invalid_argument);
  CHECK(error_of([&] { client->create("/ttl", "", {.ttl = 5s}); }) == Errc::invalid_argument);
  const std::string message =
      message_of([&] { client->create("/large", std::string(2'000'000, 'x')); });
  CHECK(message.find("jute.maxbuffer") != std::string::npos);
  // The asynchronous form throws, too, before it sends anything.
  CHECK(error_of([&] { client->async_get("relative", {}, [](error_code, GetResult) {}); }) ==
        Errc::invalid_argument);
}

TEST_CASE("a client is not made from bad options") {
  CHECK(error_of([] { Client client{""}; }) == Errc::invalid_argument);
  CHECK(error_of([] { Client client{"host:0"}; }) == Errc::invalid_argument);
  CHECK(error_of([] { Client client{"h:2181/a/"}; }) == Errc::invalid_argument);
  ClientOptions options = options_for("localhost");
  options.session_timeout = -5s;
  const std::string message = message_of([&] { Client client{options}; });
  CHECK(message.find("session_timeout") != std::string::npos);
}

TEST_CASE("a cancelled operation completes at once") {
  // There is no server: the operation would wait for a connection.
  TestClient client{"cancel", "127.0.0.1:1"};
  asio::cancellation_signal signal;
  std::promise<error_code> result;
  client->async_get("/a", {.deadline = Deadline::never()},
                    asio::bind_cancellation_slot(signal.slot(), [&](error_code error, GetResult) {
                      result.set_value(error);
                    }));
  signal.emit(asio::cancellation_type::terminal);
  auto future = result.get_future();
  REQUIRE(future.wait_for(patience) == std::future_status::ready);
  CHECK(future.get() == asio::error::operation_aborted);
}

TEST_CASE("many replies at once leave a client's other work its turns") {
  CUSTODIAN_REQUIRES_OWN_SERVER();
  Server server;
  asio::io_context context;
  Client client{context.get_executor(), options_for(server.connect_string())};
  constexpr int reads = 2000;
  int answered = 0;
  std::optional<int> answered_meanwhile;
  const auto on_answer = [&](error_code, const std::optional<Stat>&) {
    ++answered;
    if (answered == 1) asio::post(context, [&] { answered_meanwhile = answered; });
  };
  const Deadline end{patience};
  const auto run_until = [&](const auto& condition) {
    while (!condition() && !end.passed()) context.run_one_for(100ms);
    return condition();
  };
  REQUIRE(run_until([&] { return is_connected(client.connection_state()); }));
  server.pause();
  for (int i = 0; i < reads; ++i) client.async_exists("/", {}, on_answer);
  context.run_for(200ms);
  CHECK(answered == 0);
  server.resume();
  // All replies are there when the client looks again.
  CHECK(eventually([&] { return server.statistic("zk_packets_sent") >= reads; }));
  CHECK(run_until([&] { return answered == reads; }));
  REQUIRE(answered_meanwhile);
  CHECK(*answered_meanwhile < reads);
  client.close();
}

}  // namespace
}  // namespace custodian::tests::client_operations_test
