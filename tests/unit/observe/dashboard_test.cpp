// The dashboard docs/grafana/custodian.json, and the table of metrics in docs/operating.md,
// compared with the metrics that a PrometheusObserver exposes.

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "unit/observe/metrics_page.hpp"

namespace custodian::tests::dashboard_test {
namespace {

using namespace std::chrono_literals;
using Names = std::set<std::string>;

/// For each name of a series its labels, and for each label its values.
using Exposed = std::map<std::string, std::map<std::string, Names>>;

std::vector<std::smatch> all_matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator{text.begin(), text.end(), pattern}, std::sregex_iterator{}};
}

/// The series that exist after one event of each kind.
Exposed exposed() {
  MetricsPage page;
  Observer& observer = page.observer;
  observer.on_acquire_begun({.recipe = "LeaderLatch", .path = "/a", .began = {}});
  observer.on_wait_ended({.recipe = "CountDownLatch",
                          .path = "/a",
                          .outcome = WaitOutcome::passed,
                          .error = {},
                          .waited = 1s});
  observer.on_update_ended({.recipe = "DistributedAtomicLong",
                            .path = "/a",
                            .error = {},
                            .written = true,
                            .tries = 1,
                            .promoted = false,
                            .lasted = 1s});
  observer.on_operation_retried({.operation = "create",
                                 .path = "/a",
                                 .error = ServerErrc::connection_loss,
                                 .attempts = 1,
                                 .pause = 0ms});
  const std::string text = page.text();
  const std::regex series{R"(([a-z_]+)(?:\{([^}]*)\})? \S+)"};
  const std::regex label{R"re(([a-z_]+)="([^"]*)")re"};
  Exposed all;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::smatch found;
    REQUIRE(std::regex_match(line, found, series));
    auto& labels = all[found.str(1)];
    const std::string inside = found.str(2);
    for (const auto& each : all_matches(inside, label)) labels[each.str(1)].insert(each.str(2));
  }
  return all;
}

std::string file(const std::string& path) {
  std::ifstream in{std::string{CUSTODIAN_DOCS} + "/" + path};
  INFO(path);
  REQUIRE(in);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

/// The labels that a Prometheus server adds.
const Names of_server{"job", "instance"};

/// One query of the dashboard, and how its series are named.
struct Query {
  std::string where;
  std::string expression;
  std::string legend;
};

std::vector<Query> queries() {
  const auto dashboard = nlohmann::json::parse(file("grafana/custodian.json"));
  std::vector<Query> all;
  for (const auto& panel : dashboard.at("panels")) {
    if (panel.at("type") == "row") continue;
    const std::string title = panel.at("title");
    INFO(title);
    CHECK_FALSE(panel.at("targets").empty());
    CHECK_FALSE(panel.at("description").get<std::string>().empty());
    for (const auto& target : panel.at("targets")) {
      all.push_back({title, target.at("expr"), target.at("legendFormat")});
    }
  }
  for (const auto& variable : dashboard.at("templating").at("list")) {
    if (variable.at("type") != "query") continue;
    all.push_back({variable.at("name"), variable.at("query").at("query"), ""});
  }
  return all;
}

std::vector<std::string> words(const std::string& list) {
  const std::regex word{"[a-zA-Z_]+"};
  std::vector<std::string> all;
  for (const auto& each : all_matches(list, word)) all.push_back(each.str());
  return all;
}

/// The names in a query that are not exposed; empty if all are exposed.
std::string missing(const Query& query, const Exposed& all) {
  static const std::regex metric{R"((custodian_[a-z_]+)(?:\{([^}]*)\})?)"};
  static const std::regex matcher{R"re(([a-z_]+)\s*(=~|!~|!=|=)\s*"([^"]*)")re"};
  static const std::regex grouping{R"((?:by|without) \(([^)]*)\))"};
  static const std::regex variable{R"(label_values\(.*, ([a-z_]+)\))"};
  static const std::regex in_legend{R"(\{\{([a-z_]+)\}\})"};
  std::string lacks;
  Names labels = of_server;
  const auto metrics = all_matches(query.expression, metric);
  if (metrics.empty()) lacks += " any metric";
  for (const auto& each : metrics) {
    const auto found = all.find(each.str(1));
    if (found == all.end()) {
      lacks += " " + each.str(1);
      continue;
    }
    for (const auto& [name, values] : found->second) labels.insert(name);
    const std::string inside = each.str(2);
    for (const auto& match : all_matches(inside, matcher)) {
      const std::string name = match.str(1);
      if (of_server.contains(name)) continue;
      const auto label = found->second.find(name);
      if (label == found->second.end()) {
        lacks += " " + each.str(1) + "{" + name + "}";
      } else if (match.str(2) == "=" && !label->second.contains(match.str(3))) {
        lacks += " " + name + "=" + match.str(3);
      }
    }
  }
  Names grouped;
  for (const auto& each : all_matches(query.expression, grouping)) {
    for (const std::string& name : words(each.str(1))) {
      if (!labels.contains(name)) lacks += " label " + name;
      grouped.insert(name);
    }
  }
  for (const auto& each : all_matches(query.expression, variable)) {
    if (!labels.contains(each.str(1))) lacks += " label " + each.str(1);
  }
  for (const auto& each : all_matches(query.legend, in_legend)) {
    if (!grouped.contains(each.str(1))) lacks += " legend " + each.str(1);
  }
  return lacks;
}

TEST_CASE("dashboard: each metric, label and value that it names is exposed") {
  const Exposed all = exposed();
  for (const Query& query : queries()) {
    INFO(query.where << ": " << query.expression);
    CHECK(missing(query, all) == "");
  }
}

TEST_CASE("dashboard: a query that names what is not exposed is found") {
  const Exposed all = exposed();
  const auto lacks = [&](const std::string& expression, const std::string& legend = "") {
    return missing({"", expression, legend}, all);
  };
  CHECK(lacks("sum by (recipe) (custodian_leases_held)", "{{recipe}}") == "");
  CHECK(lacks("up") == " any metric");
  CHECK(lacks("custodian_leases_owned") == " custodian_leases_owned");
  CHECK(lacks(R"(custodian_leases_held{reason="x"})") == " custodian_leases_held{reason}");
  CHECK(lacks(R"(custodian_acquires_total{outcome="won"})") == " outcome=won");
  CHECK(lacks("sum by (reason) (custodian_leases_held)") == " label reason");
  CHECK(lacks("sum by (recipe) (custodian_leases_held)", "{{reason}}") == " legend reason");
  CHECK(lacks("label_values(custodian_leases_held, state)") == " label state");
}

TEST_CASE("dashboard: it shows what an operator asks for first") {
  std::string all;
  for (const Query& query : queries()) all += query.expression + "\n";
  for (const char* const each :
       {"rate(custodian_acquires_total", "histogram_quantile(0.5, sum by (le) (rate(custodian_acqu",
        "histogram_quantile(0.99, sum by (le) (rate(custodian_acqu",
        "histogram_quantile(0.99, sum by (le) (rate(custodian_hold", "custodian_acquires_waiting",
        "custodian_oldest_acquire_timestamp_seconds", "by (reason) (increase(custodian_leases_lost",
        "custodian_leases_held", "custodian_leader", "custodian_reconnects_total"}) {
    INFO(each);
    CHECK(all.find(each) != std::string::npos);
  }
}

TEST_CASE("dashboard: its panels do not cover each other, and fit into its width") {
  const auto dashboard = nlohmann::json::parse(file("grafana/custodian.json"));
  std::set<std::pair<int, int>> covered;
  std::set<int> numbers;
  for (const auto& panel : dashboard.at("panels")) {
    const auto& at = panel.at("gridPos");
    const int left = at.at("x");
    const int top = at.at("y");
    const int width = at.at("w");
    const int height = at.at("h");
    INFO(panel.at("title"));
    CHECK(left + width <= 24);
    bool free = true;
    for (int x = left; x < left + width; ++x) {
      for (int y = top; y < top + height; ++y) free = covered.emplace(x, y).second && free;
    }
    CHECK(free);
    CHECK(numbers.insert(panel.at("id").get<int>()).second);
  }
}

TEST_CASE("dashboard: the table of metrics in the documentation has those that are exposed") {
  static const std::regex cell{R"(\n\| `(custodian_[a-z_]+)` \|([^|]*)\|)"};
  static const std::regex part{"_(bucket|sum|count)$"};
  std::map<std::string, Names> documented;
  const std::string page = file("operating.md");
  for (const auto& each : all_matches(page, cell)) {
    const std::vector<std::string> labels = words(each.str(2));
    documented[each.str(1)] = Names{labels.begin(), labels.end()};
  }
  std::map<std::string, Names> real;
  for (const auto& [series, labels] : exposed()) {
    Names& names = real[std::regex_replace(series, part, "")];
    for (const auto& [name, values] : labels) {
      if (name != "le") names.insert(name);
    }
  }
  CHECK(documented == real);
}

}  // namespace
}  // namespace custodian::tests::dashboard_test
