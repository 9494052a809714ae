// The doctor examines a path that somebody else removes meanwhile.

#include "doctor/examination.hpp"

#include "custodian/testing/fake_ensemble.hpp"
#include "support/catch.hpp"

namespace custodian::tests::examination_test {
namespace {

using namespace cli;

/// Removes a node just before the servers see the nth request of a kind.
class RemovesBefore final : public testing::FaultPlan {
 public:
  RemovesBefore(testing::FakeEnsemble& ensemble, std::string node, std::string kind,
                std::size_t nth)
      : ensemble_{ensemble}, node_{std::move(node)}, kind_{std::move(kind)}, nth_{nth} {}

  testing::Fault on_submit(const testing::Submission& submission) override {
    if (submission.kind == kind_ && seen_++ == nth_) ensemble_.remove_tree(node_);
    return {};
  }

 private:
  testing::FakeEnsemble& ensemble_;
  const std::string node_;
  const std::string kind_;
  const std::size_t nth_;
  std::size_t seen_ = 0;
};

/// Creates a node before each `exists`, and removes it before each listing of children. Creates no
/// more after many rounds.
class ComesAndGoes final : public testing::FaultPlan {
 public:
  ComesAndGoes(testing::FakeEnsemble& ensemble, std::string node)
      : ensemble_{ensemble}, node_{std::move(node)} {}

  testing::Fault on_submit(const testing::Submission& submission) override {
    constexpr int many_rounds = 50;
    if (submission.kind == "exists" && rounds_++ < many_rounds) {
      ensemble_.operate(request::Create{.path = node_, .acl = open_acl()});
    }
    if (submission.kind == "children") ensemble_.remove_tree(node_);
    return {};
  }

 private:
  testing::FakeEnsemble& ensemble_;
  const std::string node_;
  int rounds_ = 0;
};

TEST_CASE("the doctor does not look for ever at a path that comes and goes, and tells so") {
  testing::FakeEnsemble ensemble;
  ensemble.set_fault_plan(std::make_shared<ComesAndGoes>(ensemble, "/locks"));
  ClientOptions options = ensemble.options();
  options.servers = "127.0.0.1:1";  // no server answers there
  const Facts facts = examine(options, {.path = "/locks"});
  CHECK_FALSE(facts.ensemble_error);
  REQUIRE(facts.path);
  CHECK(facts.path->existing == "/locks");
  CHECK(facts.path->list_error == ServerErrc::no_node);
}

TEST_CASE("the doctor judges by what is left when a path goes while it is looked at") {
  struct Moment {
    const char* before;
    std::size_t nth;
  };
  // The first transaction is the trial, the second reads the servers' clock.
  for (const Moment moment :
       {Moment{"children", 0}, Moment{"get_acl", 0}, Moment{"multi", 0}, Moment{"multi", 1}}) {
    INFO("before " << moment.before << " " << moment.nth);
    testing::FakeEnsemble ensemble;
    for (const char* path : {"/locks", "/locks/backup"}) {
      ensemble.operate(request::Create{.path = path, .acl = open_acl()});
    }
    ensemble.set_fault_plan(
        std::make_shared<RemovesBefore>(ensemble, "/locks/backup", moment.before, moment.nth));
    ClientOptions options = ensemble.options();
    options.servers = "127.0.0.1:1";  // no server answers there
    const Facts facts = examine(options, {.path = "/locks/backup"});
    CHECK_FALSE(facts.ensemble_error);
    REQUIRE(facts.path);
    CHECK(facts.path->existing == "/locks");
    CHECK(facts.path->acl == open_acl());
    CHECK_FALSE(facts.path->list_error);
    CHECK_FALSE(facts.path->create_error);
    CHECK(facts.clock);
    CHECK(ensemble.children("/locks").empty());
  }
}

}  // namespace
}  // namespace custodian::tests::examination_test
