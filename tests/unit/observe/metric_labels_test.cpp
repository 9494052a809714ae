#include "metric_labels.hpp"

#include <boost/asio/error.hpp>
#include <set>

#include "support/catch.hpp"

namespace custodian::tests::metric_labels_test {
namespace {

using namespace prometheus_detail;

TEST_CASE("each outcome, reason and state has a label of its own") {
  std::set<std::string_view> outcomes;
  for (const AcquireOutcome each : all_outcomes) outcomes.insert(to_string(each));
  CHECK(outcomes.size() == 5);
  std::set<std::string_view> reasons;
  for (const LossReason each : all_loss_reasons) reasons.insert(label_of(each));
  CHECK(reasons.size() == 6);
  CHECK_FALSE(reasons.contains(label_of(LossReason::none)));
  CHECK(reasons.contains("held_too_long"));
  std::set<std::string_view> ends;
  for (const KeptLockEnd each : all_kept_lock_ends) ends.insert(to_string(each));
  CHECK(ends.size() == 7);
  CHECK(ends.contains("own_contender"));
  std::set<std::string_view> states;
  for (const ConnectionState each : all_connection_states) states.insert(to_string(each));
  CHECK(states.size() == 6);
}

TEST_CASE("an error's label is its enumerator's name, and of what has none its number") {
  CHECK(label_of(ServerErrc::connection_loss) == "connection_loss");
  CHECK(label_of(Errc::not_connected) == "not_connected");
  CHECK(label_of(boost::asio::error::operation_aborted).starts_with("system_"));
  CHECK(label_of(error_code{-99, server_category()}) == "zookeeper_-99");
  CHECK(label_of(error_code{4711, custodian_category()}) == "custodian_4711");
}

TEST_CASE("each code has a label of its own") {
  std::set<std::string> labels;
  std::size_t codes = 0;
  for (int code = -130; code <= 0; ++code) {
    const error_code error{code, server_category()};
    const std::string label = label_of(error);
    // A code that has a message of its own has a label with a name, and not with a number.
    const bool known = error.message().find("ZooKeeper error ") == std::string::npos;
    CHECK(known != (label == "zookeeper_" + std::to_string(code)));
    labels.insert(label);
    ++codes;
  }
  CHECK(labels.size() == codes);
  for (int code = 0; code <= 20; ++code) {
    const error_code error{code, custodian_category()};
    const bool known = error.message().find("custodian error ") == std::string::npos;
    CHECK(known != (label_of(error) == "custodian_" + std::to_string(code)));
  }
}

}  // namespace
}  // namespace custodian::tests::metric_labels_test
