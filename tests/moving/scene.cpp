#include "moving/scene.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "moving/lines.hpp"
#include "moving/plan.hpp"
#include "support/sanitizers.hpp"
#include "support/test_client.hpp"

namespace custodian::tests::moving {

using namespace std::chrono_literals;

namespace {

#ifdef CUSTODIAN_ADDRESS_SANITIZER
constexpr std::chrono::milliseconds tick_time = 500ms;
#else
constexpr std::chrono::milliseconds tick_time = 250ms;
#endif
constexpr std::chrono::milliseconds timeout_of_sessions = 16 * tick_time;

/// The limit of each wait.
constexpr std::chrono::milliseconds wait_limit = 90s;

std::unique_ptr<testing::TestingCluster> make_cluster() {
  testing::TestingClusterOptions options;
  options.init_limit = 20;
  options.sync_limit = 8;
  options.server.tick_time = tick_time;
  return std::make_unique<testing::TestingCluster>(options);
}

Scene::Clusters make_clusters() {
  Scene::Clusters clusters;
  for (const char* name : {"east", "west"}) clusters[name] = make_cluster();
  return clusters;
}

/// "4294967296:17" as a token.
Token token_in(const std::string& text) {
  const auto token = chaos::parse_token(text);
  if (!token) throw std::runtime_error{"no token: " + text};
  return *token;
}

/// The text behind the last comma.
std::string last_of(const std::string& names) { return names.substr(names.rfind(',') + 1); }

std::string text_of(const crowds::Words& words) {
  std::string text;
  for (std::size_t word = 1; word < words.size(); ++word)
    text += (word > 1 ? " " : "") + words[word];
  return text;
}

}  // namespace

Measure measure_from_environment() {
  Measure measure;
  if (const char* const text = std::getenv("CUSTODIAN_TEST_MOVING")) {
    std::istringstream numbers{text};
    char comma = 0;
    numbers >> measure.processes >> comma >> measure.paths >> comma >> measure.moves >> comma >>
        measure.seconds;
    if (!numbers) throw std::runtime_error{"CUSTODIAN_TEST_MOVING: processes,paths,moves,seconds"};
  }
  return measure;
}

Scene::Scene(const Measure& measure)
    : measure_{measure},
      paths_{paths_of(measure.paths)},
      clusters_{make_clusters()},
      crowd_{"", 0ms, [this](const std::string& process, const crowds::Words& words) {
               note(process, words);
             }} {
  for (int worker = 0; worker < measure.processes; ++worker) add_lines(workers_.emplace_back());
  add_lines(mover_);
  make_guarded_nodes();
  start_move(0);
  wait_for("the map", [this] { return has_moved(0); });
  for (Place& place : workers_) start_worker(place);
}

void Scene::add_lines(Place& place) {
  for (const auto& [name, cluster] : clusters_) {
    for (std::size_t member = 0; member < cluster->size(); ++member) {
      place.lines[name].emplace_back(cluster->server(member).endpoint());
    }
  }
}

void Scene::make_guarded_nodes() {
  constexpr std::size_t at_once = 100;
  for (const auto& [name, cluster] : clusters_) {
    Client client = client_of(*cluster);
    client.create("/guarded");
    for (std::size_t begin = 0; begin < paths_.size(); begin += at_once) {
      Transaction transaction;
      for (std::size_t i = begin; i < std::min(begin + at_once, paths_.size()); ++i) {
        transaction.push_back(create(guarded_node(paths_[i])));
      }
      client.commit(std::move(transaction));
    }
  }
}

Client Scene::client_of(const testing::TestingCluster& cluster) {
  return Client{plain_options_for(cluster.connect_string())};
}

std::chrono::milliseconds Scene::session_timeout() const noexcept { return timeout_of_sessions; }

std::chrono::milliseconds Scene::tick() const noexcept { return tick_time; }

// -- Processes ------------------------------------------------------------------------------------

void Scene::start(Place& place, const std::string& name) {
  place.process = name + "." + std::to_string(++place.processes);
  std::vector<std::string> arguments;
  for (const auto& [ensemble, lines] : place.lines) {
    std::string servers;
    for (const auto& line : lines) servers += (servers.empty() ? "" : ",") + line.connect_string();
    arguments.push_back(servers);
  }
  const std::chrono::milliseconds touch = tick_time * 3 / 2;
  for (const std::int64_t number :
       {std::int64_t{timeout_of_sessions.count()}, std::int64_t{touch.count()},
        std::int64_t{register_.port()}, std::int64_t{measure_.paths}, std::int64_t{++seed_}}) {
    arguments.push_back(std::to_string(number));
  }
  crowd_.start(place.process, arguments);
}

void Scene::start_worker(Place& place) {
  const auto found =
      std::ranges::find_if(workers_, [&](const Place& each) { return &each == &place; });
  const auto number = found - workers_.begin();
  start(place, "w" + std::to_string(number));
  tell(place, "work");
}

void Scene::start_move(int step) {
  if (mover_.process.empty()) start(mover_, "mover");
  tell(mover_, "move " + std::to_string(step));
}

void Scene::signal(const Place& place, int signal) {
  journal_.add(place.process, "gets signal " + std::to_string(signal));
  crowd_.signal(place.process, signal);
}

void Scene::kill(Place& place) {
  journal_.add(place.process, "is killed");
  crowd_.kill(place.process);
  judge_.died(place.process, now());
  place.process.clear();
}

void Scene::tell_workers(const std::string& line) {
  for (const Place& each : workers_) {
    if (!each.process.empty()) tell(each, line);
  }
}

void Scene::keep(const Place& place, const std::string& path) {
  kept_.clear();
  tell(place, "hold " + path);
  wait_for("a hold of " + path, [&] { return kept_ == path; });
}

std::map<std::string, std::string> Scene::visit_all() {
  const std::int64_t since = now();
  visited_ = 0;
  const std::size_t each = paths_.size() / workers_.size() + 1;
  std::size_t from = 0;
  int asked = 0;
  for (const Place& place : workers_) {
    const std::size_t to = std::min(from + each, paths_.size());
    tell(place, "visit " + std::to_string(from) + " " + std::to_string(to));
    from = to;
    ++asked;
  }
  wait_for("a visit of each path", [&] { return visited_ == asked; });
  return judge_.homes_since(since);
}

void Scene::rest() {
  tell_workers("rest");
  const int all = static_cast<int>(workers_.size());
  wait_for("rest", [&] { return resting_ == all; });
}

std::size_t Scene::nodes_left() {
  std::size_t left = 0;
  for (const auto& [name, cluster] : clusters_) {
    Client client = client_of(*cluster);
    for (const std::string& path : paths_) left += names_below(client, path).size();
  }
  return left;
}

// -- Waiting and listening ------------------------------------------------------------------------

void Scene::wait_for(const std::string& what, const std::function<bool()>& condition) {
  if (!crowd_.until(condition, wait_limit)) {
    throw std::runtime_error{what + " was waited for, and did not come"};
  }
}

void Scene::pass(std::chrono::milliseconds time, const std::function<void()>& meanwhile) {
  const auto never = [&] {
    meanwhile();
    return false;
  };
  static_cast<void>(crowd_.until(never, time));
}

void Scene::note(const std::string& process, const crowds::Words& words) {
  const auto number = [&](std::size_t word) { return std::stoll(words.at(word)); };
  const auto path = [&] { return words.at(1); };
  const auto token = [&] { return token_in(words.at(2)); };
  const std::string& word = words.at(0);
  journal_.add(process, word + " " + text_of(words));
  if (word == "begin") {
    judge_.begin(process, path(), token(), number(3), last_of(words.at(4)));
    longest_wait_ms = std::max<std::int64_t>(longest_wait_ms, number(5));
  }
  if (word == "end" || word == "lost") judge_.end(process, path(), token(), number(3));
  if (word == "lost") ++lost;
  if (word == "landed") judge_.landed(process, path(), token(), number(3), number(4));
  if (word == "refused" && words.at(3) == "stale") ++refused_stale;
  if (word == "refused" && words.at(3) == "good") judge_.refused_good(process, path(), token());
  if (word == "wrote") judge_.wrote(process, path(), token(), words.at(3), number(4));
  if (word == "unwritten") ++unwritten;
  if (word == "wrong") judge_.note(process + ": " + text_of(words));
  if (word == "kept") kept_ = path();
  if (word == "visited") ++visited_;
  if (word == "rests") ++resting_;
  if (word == "moved") moved_ = static_cast<int>(number(1));
}

}  // namespace custodian::tests::moving
