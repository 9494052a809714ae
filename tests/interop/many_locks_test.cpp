// custodian list, on a server with many locks of ours, of Apache Curator's and of kazoo's: each is
// found, with its kind and its holders, beside names that are hostile and nodes that may not be
// read.
//
// CUSTODIAN_TEST_LISTED_LOCKS sets the number of locks, of five nodes on average; by default a few.
// Time, requests and memory are printed, and not judged: they mean something only on an idle
// machine.

#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "curator.hpp"
#include "programs/program.hpp"
#include "stage.hpp"
#include "support/number_in.hpp"

namespace custodian::tests::many_locks_test {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

/// The expected row of a lock: its kind, and the number of its holders.
struct Held {
  std::string kind;
  std::size_t holders = 0;

  friend bool operator==(const Held&, const Held&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Held& held) {
    return out << held.kind << " of " << held.holders;
  }
};

using ByPath = std::map<std::string, Held>;

/// A kind of locks, by the name that drivers have for it.
struct Kind {
  std::string command;
  std::size_t sessions = 1;  ///< the number of sessions that acquire the lock
  Held held;
};

const Kind mutex{"mutex", 1, {"mutex", 1}};
const Kind write_lock{"write", 1, {"read/write", 1}};
const Kind read_lock{"read", 4, {"read/write", 4}};
const Kind semaphore{"8-of-8", 1, {"semaphore", 8}};
/// The names of its nodes are those of a mutex.
const Kind kazoos_write_lock{"write", 1, {"mutex", 1}};

/// Acquires locks of these kinds in turn, and adds the expected row of each to `all`.
void hold(Driver& driver, const std::vector<Kind>& kinds, const std::string& below, int number,
          ByPath& all) {
  constexpr int at_once = 100;  // so that no answer fills a pipe while nobody reads it
  std::vector<Session> sessions;
  for (int i = 0; i < 4; ++i)
    sessions.emplace_back(driver, below.substr(1 + below.rfind('/')) + std::to_string(i));
  for (int first = 0; first < number; first += at_once) {
    std::vector<Session*> asked;
    for (int i = first; i < std::min(number, first + at_once); ++i) {
      const Kind& kind = kinds[static_cast<std::size_t>(i) % kinds.size()];
      const std::string path = below + "/lock-" + std::to_string(i);
      all[path] = kind.held;
      for (std::size_t each = 0; each < kind.sessions; ++each) {
        sessions[each].begin("acquire " + kind.command + " " + path);
        asked.push_back(&sessions[each]);
      }
    }
    for (Session* session : asked) (void)session->end();
  }
}

/// The locks that the output shows.
ByPath understood(const std::string& output) {
  ByPath result;
  std::istringstream lines{output};
  for (std::string line; std::getline(lines, line);) {
    const Json lock = Json::parse(line);
    result[lock["path"]] = {lock["kind"], lock["holders"].size()};
  }
  return result;
}

std::vector<std::string> list_below(const std::string& path, std::vector<std::string> words) {
  std::vector<std::string> all = words_for_tls();
  all.insert(all.end(), {"--servers", connect_string(), "list", path});
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

/// The largest memory of any program that this process has waited for, in MB.
long most_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return usage.ru_maxrss / 1024;
}

TEST_CASE("list shows each of many locks, of ours, of Curator's and of kazoo's") {
  CUSTODIAN_REQUIRES_CURATOR();
  if (!has_kazoo()) CUSTODIAN_SKIP("needs kazoo: tools/setup installs it, then configure again");
  const int locks_of_each = number_in("CUSTODIAN_TEST_LISTED_LOCKS", 48) / 3;
  Stage stage{"many-locks"};
  ByPath held;
  Driver of_ours{ours()};
  Driver of_curator{curator()};
  Driver of_kazoo{kazoo()};
  const std::vector<Kind> all_kinds{mutex, write_lock, read_lock, semaphore};
  hold(of_ours, all_kinds, stage.path("ours"), locks_of_each, held);
  hold(of_curator, all_kinds, stage.path("curators"), locks_of_each, held);
  hold(of_kazoo, {mutex, kazoos_write_lock, read_lock}, stage.path("kazoos"), locks_of_each, held);

  // A name that tries to control a browser or a terminal, or the direction of text.
  Session hostile{of_ours, "hostile"};
  for (const std::string name : {"<img-src=x-onerror=alert(1)>", "'\"&lt;$(reboot)`",
                                 "\u202egnp.exe", "%s%n", "caf\u00e9"}) {
    hostile.does("acquire mutex " + stage.path(name));
    held[stage.path(name)] = mutex.held;
  }

  const std::string root = stage.path("");
  const std::int64_t packets = own_server().statistic("zk_packets_received");
  const auto begin = Clock::now();
  const Result listed = run(CUSTODIAN_CLI, list_below(root.substr(0, root.size() - 1), {"--json"}));
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  std::cout << held.size() << " locks, " << own_server().statistic("zk_znode_count")
            << " nodes on the server: " << took.count() << " ms, "
            << own_server().statistic("zk_packets_received") - packets << " requests, "
            << most_memory() << " MB\n";
  CHECK(listed.status == 0);
  const ByPath shown = understood(listed.output);
  CHECK(shown.size() == held.size());
  for (const auto& [path, what] : held) {
    INFO(path);
    const auto found = shown.find(path);
    REQUIRE(found != shown.end());
    REQUIRE(found->second == what);
  }

  const Result text = run(CUSTODIAN_CLI, list_below(stage.path("\u202egnp.exe"), {}));
  CHECK(contains(text.output, "mutex"));
  CHECK_FALSE(contains(text.output, "\u202e"));

  const Acl nobody_reads{{.permissions = Permissions::create | Permissions::remove}};
  stage.client().create("/guarded/forbidden", "",
                        {.parents = Parents::created_as_containers, .acl = nobody_reads});
  hostile.does("acquire mutex " + stage.path("guarded/open"));
  const Result beside = run(CUSTODIAN_CLI, list_below(stage.path("guarded"), {}));
  INFO(beside.output);
  CHECK(beside.status == 0);
  CHECK(contains(beside.output, "may not be read: " + stage.path("guarded/forbidden")));
  CHECK(contains(beside.output, stage.path("guarded/open")));
}

}  // namespace
}  // namespace custodian::tests::many_locks_test
