// The pure parts of custodian serve, and the answers that several clients share.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "cli/http_client.hpp"
#include "http/http_guard.hpp"
#include "options/usage_error.hpp"
#include "run/leader_page.hpp"
#include "serve/lock_board.hpp"
#include "serve/lock_metrics.hpp"
#include "serve/lock_news.hpp"
#include "serve/page_files.hpp"
#include "serve/serve_routes.hpp"
#include "serve/shared_answers.hpp"

namespace custodian::tests::serve_parts_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;
namespace asio = boost::asio;

const std::chrono::system_clock::time_point noon{1'763'784'000s};

Inspected one(std::string node, Standing standing, std::string identity = "host/1") {
  return {.participant = {.node = std::move(node),
                          .identity = std::move(identity),
                          .session = 0xabc,
                          .since = noon},
          .standing = standing};
}

using WalkPtr = std::shared_ptr<const LockWalk>;

WalkPtr walk_with(std::vector<ListedLock> locks) {
  LockWalk walk{.at = noon + 10s, .took = 7ms};
  walk.listing.locks = std::move(locks);
  walk.listing.nodes = 42;
  return std::make_shared<const LockWalk>(std::move(walk));
}

ListedLock held(std::string path) {
  const std::string node = path + "/lock-1";
  return {.path = std::move(path), .contenders = {one(node, Standing::holds)}};
}

ListedLock waited_for(std::string path, std::vector<std::string> waiters) {
  ListedLock lock = held(path);
  const std::string folder = path + "/";
  for (std::string& each : waiters) {
    lock.contenders.push_back(one(folder + each, Standing::waits, each));
  }
  return lock;
}

Json event_of(const std::shared_ptr<const std::string>& text) {
  constexpr std::string_view head = "event: locks\ndata: ";
  REQUIRE(text->starts_with(head));
  REQUIRE(text->ends_with("}\n\n"));
  REQUIRE(text->find('\n', head.size()) == text->size() - 2);
  return Json::parse(text->substr(head.size()));
}

std::vector<std::string> paths_in(const Json& event) {
  std::vector<std::string> paths;
  for (const auto& lock : event["locks"]) paths.push_back(lock["path"]);
  return paths;
}

using Paths = std::vector<std::string>;

HttpTarget to(std::string path) { return {std::move(path), ""}; }

}  // namespace

TEST_CASE("a target of serve is a file, a question to the servers, or nothing") {
  CHECK(route_of(to("/")) == ServeTarget{ServeRoute::file, "index.html"});
  CHECK(route_of(to("/leaders")) == ServeTarget{ServeRoute::file, "index.html"});
  CHECK(route_of(to("/page.js")) == ServeTarget{ServeRoute::file, "page.js"});
  CHECK(route_of(to("/api/locks")) == ServeTarget{ServeRoute::locks, ""});
  CHECK(route_of(to("/api/locks/")) == ServeTarget{ServeRoute::lock, "/"});
  CHECK(route_of(to("/api/locks/a/b")) == ServeTarget{ServeRoute::lock, "/a/b"});
  CHECK(route_of(to("/api/events")).route == ServeRoute::events);
  for (const char* none : {"/api/locksmith", "/api", "/api/", "/../etc/passwd", "//", "/page.js/",
                           "/index.html/..", "/healthz/"}) {
    INFO(none);
    CHECK(route_of(to(none)).route == ServeRoute::unknown);
  }
}

TEST_CASE("what shows something of the servers is not for everybody") {
  for (const char* open : {"/", "/servers", "/page.css", "/healthz"}) {
    INFO(open);
    CHECK(is_for_everybody(to(open)));
  }
  for (const char* closed : {"/api/locks", "/api/locks/a", "/api/cycles", "/api/servers",
                             "/api/events", "/metrics", "/what"}) {
    INFO(closed);
    CHECK_FALSE(is_for_everybody(to(closed)));
  }
}

TEST_CASE("the page loads nothing from elsewhere, and puts no text in as markup") {
  REQUIRE(page_files().size() >= 8);
  for (const PageFile& file : page_files()) {
    INFO(file.name);
    const std::string_view text = file.content;
    CHECK_FALSE(text.empty());
    for (const char* host : {"https://", "//cdn", "url("}) CHECK_FALSE(has_text(text, host));
    for (const char* markup : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                               "eval(", "new Function", "style=\"", "onclick="}) {
      INFO(markup);
      CHECK_FALSE(has_text(text, markup));
    }
    CHECK(type_of(file.name) != "application/octet-stream");
  }
}

TEST_CASE("a browser that comes gets everything, and one that is there what has changed") {
  LockNews news{2s};
  news.take(walk_with({held("/a"), held("/b"), waited_for("/c", {"x"})}));
  Json event = event_of(news.event_after(std::nullopt, 3));
  CHECK(event["full"] == true);
  CHECK(event["browsers"] == 3);
  CHECK(event["every_ms"] == 2000);
  CHECK(event["nodes"] == 42);
  CHECK(paths_in(event) == Paths{"/a", "/b", "/c"});

  // /c has as many waiters as before, but one of them is another: its row is the same, its queue is
  // not.
  news.take(walk_with({held("/a"), waited_for("/c", {"y"}), held("/d")}));
  event = event_of(news.event_after(1, 3));
  CHECK(event["full"] == false);
  CHECK(paths_in(event) == Paths{"/c", "/d"});
  CHECK(event["removed"] == Json::array({"/b"}));
  // A browser that has missed an event, and a new browser.
  CHECK(paths_in(event_of(news.event_after(0, 3))) == Paths{"/a", "/c", "/d"});
  CHECK(event_of(news.event_after(std::nullopt, 3))["removed"] == Json::array());
  // Browsers share an event.
  CHECK(news.event_after(1, 3) == news.event_after(1, 3));
}

TEST_CASE("a walk that has failed leaves the locks as they were, and says why") {
  LockNews news{2s};
  news.take(walk_with({held("/a")}));
  news.take(std::make_shared<const LockWalk>(LockWalk{.error = "no server"}));
  Json event = event_of(news.event_after(1, 1));
  CHECK(event["error"] == "no server");
  CHECK(paths_in(event).empty());
  CHECK(event["removed"] == Json::array());
  CHECK(paths_in(event_of(news.event_after(std::nullopt, 1))) == Paths{"/a"});
  news.take(walk_with({}));
  event = event_of(news.event_after(2, 1));
  CHECK(event["error"].is_null());
  CHECK(event["removed"] == Json::array({"/a"}));
}

TEST_CASE("hostile names stay text in one line of an event") {
  LockNews news{2s};
  news.take(walk_with({held("/<script>\n\ndata: {}\r\n\"\\\xff")}));
  const Json event = event_of(news.event_after(std::nullopt, 1));
  CHECK(paths_in(event).at(0).starts_with("/<script>\n\ndata: {}\r\n\"\\"));
}

TEST_CASE("metrics have sums of each kind, and no paths") {
  const std::string text = metrics_of(*walk_with({held("/a"), waited_for("/c", {"x", "y"})}));
  CHECK(has_text(text, "custodian_locks_up 1\n"));
  CHECK(has_text(text, "custodian_locks{kind=\"mutex\"} 2\n"));
  CHECK(has_text(text, "custodian_locks_waiters{kind=\"mutex\"} 2\n"));
  CHECK(has_text(text, "custodian_locks_holders{kind=\"mutex\"} 2\n"));
  CHECK(has_text(text, "custodian_locks_oldest_wait_seconds{kind=\"mutex\"} 10\n"));
  CHECK(has_text(text, "custodian_locks{kind=\"election\"} 0\n"));
  CHECK_FALSE(has_text(text, "/a"));
  const std::string down = metrics_of(LockWalk{.error = "no server"});
  CHECK(has_text(down, "custodian_locks_up 0\n"));
  CHECK_FALSE(has_text(down, "custodian_locks{"));
}

TEST_CASE("the leader's page says yes or no by its status") {
  Leading leading{.path = "/leader", .is_connected = true};
  CHECK(leader_response(to("/leader"), leading, LeaderDetails::shown).status == 503);
  leading.leads = true;
  leading.node = "/leader/latch-1";
  leading.token = "0-17";
  const HttpResponse shown = leader_response(to("/leader"), leading, LeaderDetails::shown);
  CHECK(shown.status == 200);
  CHECK(Json::parse(shown.body)["token"] == "0-17");
  const HttpResponse withheld = leader_response(to("/leader"), leading, LeaderDetails::withheld);
  CHECK(withheld.status == 200);
  CHECK(withheld.body == "{\"leader\":true}\n");
  CHECK(leader_response(to("/healthz"), {}, LeaderDetails::withheld).status == 200);
  CHECK(leader_response(to("/"), leading, LeaderDetails::shown).status == 404);
}

TEST_CASE("the answers in the documentation are what the command gives") {
  std::stringstream page;
  page << std::ifstream{CUSTODIAN_DOCS "/operating.md"}.rdbuf();
  const auto check = [&](std::string line) {
    line = "    " + line + "\n";
    INFO(line);
    CHECK(has_text(page.str(), line));
  };
  const std::chrono::system_clock::time_point at{1'795'761'000s};
  const auto contender = [&](std::string name, Standing standing, std::chrono::seconds since) {
    Inspected each = one("/locks/backup/" + name, standing, "web1/4711");
    each.participant.session = 0x10001d72b95000b;
    each.participant.since = at - since;
    each.participant.token = {0, 17};
    return each;
  };
  LockWalk walk{.at = at};
  walk.listing.nodes = 12;
  walk.listing.locks = {{.path = "/locks/backup",
                         .contenders = {contender("lock-1", Standing::holds, 185s),
                                        contender("lock-2", Standing::waits, 178s)}}};
  check(to_line(json_of_locks(walk)));
  const Leading leading{.path = "/leaders/scheduler",
                        .is_connected = true,
                        .leads = true,
                        .node = "/leaders/scheduler/latch-1",
                        .token = "17",
                        .identity = "web1"};
  std::string line = leader_response(to("/leader"), leading, LeaderDetails::shown).body;
  line.pop_back();
  check(line);
  try {
    static_cast<void>(guard_for(parse_listen_address("0.0.0.0:8180"), std::nullopt));
    FAIL("it was not refused");
  } catch (const UsageError& refused) {
    check(std::string{"custodian: "} + refused.what());
  }
}

TEST_CASE("all that ask within the time share one walk, and later ones another") {
  asio::io_context context{1};
  std::atomic<int> walks = 0;
  LockBoard board{context, 1h, [&](const std::stop_token&) {
                    ++walks;
                    return *walk_with({held("/a")});
                  }};
  int answered = 0;
  const auto ask = [&] {
    asio::co_spawn(context, board.recent(), [&](const std::exception_ptr&, const WalkPtr& walk) {
      if (walk && walk->listing.locks.size() == 1) ++answered;
    });
  };
  for (int i = 0; i != 50; ++i) ask();
  context.run_for(patience);
  ask();
  context.restart();
  context.run_for(patience);
  CHECK(answered == 51);
  CHECK(walks == 1);
  board.join();
}

TEST_CASE("a board walks for browsers that are there, together, and for nobody else") {
  asio::io_context context{1};
  std::atomic<int> walks = 0;
  std::atomic<bool> is_held_up = false;
  LockBoard board{context, 1ms, [&](const std::stop_token&) {
                    ++walks;
                    is_held_up.wait(true);
                    return LockWalk{};
                  }};
  context.run_for(20ms);
  CHECK(walks == 0);
  int events = 0;
  {
    std::vector<HttpEvents> browsers;
    for (int i = 0; i != 50; ++i) browsers.push_back(board.events());
    CHECK(board.browsers() == 50);
    for (HttpEvents& each : browsers) {
      asio::co_spawn(context, each.next(), [&](const std::exception_ptr&, const auto& text) {
        if (text) ++events;
      });
    }
    context.restart();
    while (events < 50) REQUIRE(context.run_one_for(patience) == 1);
    // Each browser has got its first event, from one of very few walks.
    CHECK(walks < 25);
    is_held_up = true;
    const int before = walks;
    while (walks == before) context.run_one_for(1ms);
  }
  CHECK(board.browsers() == 0);
  is_held_up = false;
  is_held_up.notify_all();
  // The walk under way is the last one.
  context.restart();
  context.run_for(patience);
  const int last = walks;
  context.restart();
  context.run_for(20ms);
  CHECK(walks == last);
  board.stop();
  board.join();
}

TEST_CASE("a board pauses for as long as a walk has taken, so that the servers have their half") {
  using std::chrono::steady_clock;
  asio::io_context context{1};
  std::atomic<int> walks = 0;
  std::atomic<bool> too_soon = false;
  steady_clock::duration took{};
  steady_clock::time_point ended{};
  LockBoard board{context, 1ms, [&](const std::stop_token&) {
                    const auto began = steady_clock::now();
                    if (walks > 0 && began - ended < took) too_soon = true;
                    std::this_thread::sleep_for(20ms);
                    ended = steady_clock::now();
                    took = ended - began;
                    ++walks;
                    return LockWalk{};
                  }};
  {
    const HttpEvents browser = board.events();
    while (walks < 5) context.run_one_for(patience);
  }
  board.stop();
  board.join();
  CHECK_FALSE(too_soon);
}

TEST_CASE("one question is asked once for all that wait for its answer") {
  asio::io_context context{1};
  std::atomic<int> asked = 0;
  SharedAnswers answers{context, 1h, 2};
  int right = 0;
  for (int i = 0; i != 20; ++i) {
    asio::co_spawn(context,
                   answers.ask("/a",
                               [&] {
                                 ++asked;
                                 return HttpResponse{.body = "a"};
                               }),
                   [&](const std::exception_ptr&, const HttpResponse& response) {
                     if (response.body == "a") ++right;
                   });
  }
  int failed = 0;
  asio::co_spawn(
      context, answers.ask("/b", []() -> HttpResponse { throw std::runtime_error{"no"}; }),
      [&](const std::exception_ptr&, const HttpResponse& response) { failed = response.status; });
  context.run_for(patience);
  CHECK(asked == 1);
  CHECK(right == 20);
  CHECK(failed == 503);
}

TEST_CASE("too many different questions at once are refused") {
  asio::io_context context{1};
  std::promise<void> gate;
  const std::shared_future<void> opened = gate.get_future().share();
  SharedAnswers answers{context, 1h, 2};
  std::vector<int> statuses;
  for (std::size_t i = 0; i != SharedAnswers::most + 1; ++i) {
    asio::co_spawn(context,
                   answers.ask(std::to_string(i),
                               [opened] {
                                 opened.wait();
                                 return HttpResponse{};
                               }),
                   [&](const std::exception_ptr&, const HttpResponse& response) {
                     statuses.push_back(response.status);
                   });
  }
  while (statuses.empty()) REQUIRE(context.run_one_for(patience) == 1);
  CHECK(statuses == std::vector<int>{503});
  gate.set_value();
  context.run_for(patience);
  CHECK(statuses.size() == SharedAnswers::most + 1);
}

}  // namespace custodian::tests::serve_parts_test
