// Whether all ensembles have the layout of a map: with a fault at each request, and with others at
// the same time.

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "custodian/ensembles/ensemble_map.hpp"
#include "scripted/cancel_moment.hpp"
#include "scripted/ensembles/two_ensembles.hpp"
#include "scripted/plays.hpp"

namespace custodian::tests::map_verify_test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace two_ensembles;

constexpr auto map_path = "/custodian/map";

/// What the ensembles have when the process asks them.
enum class Before { nothing, the_same, half_of_it, another_at_east, another_at_west, no_layout };
constexpr Before all_befores[] = {Before::nothing,         Before::the_same,
                                  Before::half_of_it,      Before::another_at_east,
                                  Before::another_at_west, Before::no_layout};

struct VerifyCase {
  Before before = Before::nothing;
  std::size_t faulty_ensemble = 0;
  Faults faults{};
  std::optional<std::pair<CancelMoment, std::size_t>> cancel{};
};

struct VerifyRun {
  std::string violation{};
  std::size_t steps = 0;  ///< requests to the faulty ensemble
};

std::string describe(const VerifyCase& played) {
  constexpr const char* names[] = {"nothing there",   "the same",        "the same at one",
                                   "another at east", "another at west", "no layout"};
  std::string text = names[static_cast<int>(played.before)];
  text += disturbance_at(played.faulty_ensemble, played.faults, played.cancel);
  return text;
}

class VerifyPlay {
 public:
  explicit VerifyPlay(const VerifyCase& played)
      : case_{played},
        plan_{std::make_shared<FaultsAt>(played.faulty_ensemble == 0 ? "mine-east" : "mine-west",
                                         played.faults)} {}

  VerifyRun run() {
    prepare();
    Outcome<MapVerdict> found;
    process_.map.async_verify(map_path,
                              asio::bind_cancellation_slot(signal_.slot(), found.handler()));
    if (!ensembles_.world.run_until_arrived(found)) return {"it does not end"};
    run_.steps = plan_->steps();
    for (testing::FakeEnsemble* each : ensembles_.all) each->release_replies();
    judge(found.error(), found.result());
    plan_->submitted = plan_->replying = plan_->replied = nullptr;
    if (!process_.end(ensembles_)) complain("something is left, or keeps a client alive");
    for (const testing::FakeEnsemble* each : ensembles_.all) {
      if (each->watches() != 0) complain("a watch is left");
    }
    return run_;
  }

 private:
  void complain(const std::string& what) {
    if (run_.violation.empty()) run_.violation = what;
  }

  void give(std::size_t ensemble, std::string data) {
    ensembles_.make(ensemble, "/custodian", {});
    ensembles_.make(ensemble, map_path, std::move(data));
  }

  void prepare() {
    const std::string mine = even_layout().text();
    const std::string others = uneven_layout().text();
    switch (case_.before) {
      case Before::nothing: break;
      case Before::the_same: give(0, mine), give(1, mine); break;
      case Before::half_of_it: give(1, mine); break;
      case Before::another_at_east: give(0, others); break;
      case Before::another_at_west: give(0, mine), give(1, others); break;
      case Before::no_layout: give(1, "hello\n"); break;
    }
    for (std::size_t i = 0; i < 2; ++i) before_.at(i) = ensembles_.data(i, map_path);
    const auto cancel_at = [this](CancelMoment moment) {
      return [this, moment](std::size_t step) {
        if (case_.cancel != std::pair{moment, step}) return;
        if (moment != CancelMoment::request_sent) return signal_.emit(asio::cancellation_type::all);
        asio::post(ensembles_.world.context,
                   [this] { signal_.emit(asio::cancellation_type::all); });
      };
    };
    plan_->submitted = cancel_at(CancelMoment::request_sent);
    plan_->replying = cancel_at(CancelMoment::before_reply);
    plan_->replied = cancel_at(CancelMoment::after_reply);
    ensembles_.all.at(case_.faulty_ensemble)->set_fault_plan(plan_);
  }

  void judge(const error_code& error, const MapVerdict& verdict) {
    const std::string mine = even_layout().text();
    for (std::size_t i = 0; i < 2; ++i) {
      const auto now = ensembles_.data(i, map_path);
      if (before_.at(i) && now != before_.at(i)) complain("a layout was written over");
      if (now && !before_.at(i) && *now != mine) complain("something else was written");
      if (!error && now != mine) complain("it passes, and the layout is not there");
    }
    if (case_.cancel && error == asio::error::operation_aborted) return;
    if (verdict.ours != even_layout().fingerprint()) complain("its own fingerprint is another");
    const std::string text = verdict.explain();
    switch (case_.before) {
      case Before::nothing:
      case Before::the_same:
      case Before::half_of_it:
        if (error) complain("it fails: " + error.message());
        if (!text.empty()) complain("it explains: " + text);
        return;
      case Before::another_at_east:
      case Before::another_at_west: {
        if (error != Errc::invalid_argument) complain("no difference, but: " + error.message());
        const std::string where = case_.before == Before::another_at_east ? "east" : "west";
        if (verdict.ensemble != where) complain("it names the ensemble " + verdict.ensemble);
        if (text != where + " has the layout " + uneven_layout().fingerprint() +
                        ", and this process " + even_layout().fingerprint()) {
          complain("it explains: " + text);
        }
        return;
      }
      case Before::no_layout:
        if (error != Errc::malformed_data) complain("another error: " + error.message());
        if (text != "at the ensemble west") complain("it explains: " + text);
        return;
    }
  }

  const VerifyCase& case_;
  const std::shared_ptr<FaultsAt> plan_;
  asio::cancellation_signal signal_;
  Ensembles ensembles_;
  Process process_{ensembles_, "mine"};
  std::array<std::optional<std::string>, 2> before_;
  VerifyRun run_;
};

class Tally : public Plays {
 public:
  using Plays::Plays;

  std::size_t play(const VerifyCase& played) {
    const VerifyRun run = VerifyPlay{played}.run();
    add(run.violation, [&] { return describe(played); });
    return run.steps;
  }
};

TEST_CASE("map verify: every fault at every request leaves the verdict as it is", "[ensembles]") {
  Tally tally{"one fault"};
  for (const Before before : all_befores) {
    for (const std::size_t ensemble : {0U, 1U}) {
      VerifyCase each{.before = before, .faulty_ensemble = ensemble};
      const std::size_t steps = tally.play(each);
      CHECK(steps >= 2);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const Fault& fault : sampled(faults_and_late_ones())) {
          each.faults = {{at, fault}};
          tally.play(each);
        }
      }
    }
  }
}

TEST_CASE("map verify: every pair of faults leaves the verdict as it is", "[ensembles]") {
  Tally tally{"two faults"};
  Sample sample;
  for (const Before before : {Before::nothing, Before::another_at_west}) {
    VerifyCase each{.before = before, .faulty_ensemble = before == Before::nothing ? 0U : 1U};
    const std::size_t steps = tally.play(each);
    for (std::size_t at = 0; at < steps; ++at) {
      for (const Fault& fault : all_faults()) {
        for (std::size_t next = at + 1; next < at + 3; ++next) {
          for (const Fault& another : all_faults()) {
            if (!sample.takes_next()) continue;
            each.faults = {{at, fault}, {next, another}};
            tally.play(each);
          }
        }
      }
    }
  }
}

TEST_CASE("map verify: a cancelled check ends at every moment, and writes nothing else",
          "[ensembles]") {
  Tally tally{"cancelled"};
  for (const Before before : {Before::nothing, Before::the_same, Before::another_at_west}) {
    for (const std::size_t ensemble : {0U, 1U}) {
      VerifyCase each{.before = before, .faulty_ensemble = ensemble};
      const std::size_t steps = tally.play(each);
      for (std::size_t at = 0; at < steps; ++at) {
        for (const CancelMoment moment :
             {CancelMoment::request_sent, CancelMoment::before_reply, CancelMoment::after_reply}) {
          each.cancel = std::pair{moment, at};
          tally.play(each);
        }
      }
    }
  }
}

// -- Others at the same time ----------------------------------------------------------------------

TEST_CASE("map verify: of two with different layouts that begin at once one passes at the most",
          "[ensembles]") {
  Plays plays{"two at once"};
  for (std::size_t at = 0; at < 6; ++at) {
    for (const Fault& fault : sampled(faults_and_late_ones())) {
      Ensembles ensembles;
      Process one{ensembles, "one"};
      Process two{ensembles, "two", uneven_layout()};
      Process same{ensembles, "same"};
      ensembles.world.ensemble.set_fault_plan(
          std::make_shared<FaultsAt>("one-east", Faults{{at, fault}}));
      Outcome<MapVerdict> first;
      Outcome<MapVerdict> second;
      Outcome<MapVerdict> third;
      one.map.async_verify(map_path, first.handler());
      two.map.async_verify(map_path, second.handler());
      same.map.async_verify(map_path, third.handler());
      std::string violation;
      for (const auto* each : {&first, &second, &third}) {
        if (!ensembles.world.run_until_arrived(*each)) violation = "one does not end";
      }
      if (violation.empty()) {
        const bool passed = !first.error();
        const bool other_passed = !second.error();
        if (passed && other_passed) violation = "both pass";
        if (passed != !third.error()) violation = "of two with one layout one passes";
        if (!passed && first.error() != Errc::invalid_argument) violation = first.error().message();
        if (!other_passed && second.error() != Errc::invalid_argument) {
          violation = second.error().message();
        }
      }
      plays.add(violation, [&] { return std::to_string(at) + ": " + tests::describe(fault); });
      ensembles.world.ensemble.release_replies();
    }
  }
}

// -- Ensembles that are away ----------------------------------------------------------------------

TEST_CASE("map verify: an ensemble that is away is named, and hides no difference elsewhere",
          "[ensembles]") {
  Ensembles ensembles;
  Process mine{ensembles, "mine"};
  ensembles.world.ensemble.stop();
  Outcome<MapVerdict> found;
  mine.map.async_verify(map_path, {Deadline{100ms}}, found.handler());
  REQUIRE(ensembles.world.run_until_arrived(found));
  CHECK(found.error() == Errc::deadline_exceeded);
  CHECK(found.result().ensemble == "east");
  CHECK(ensembles.data(1, map_path) == even_layout().text());

  Process other{ensembles, "other", uneven_layout()};
  found = {};
  other.map.async_verify(map_path, {Deadline{100ms}}, found.handler());
  REQUIRE(ensembles.world.run_until_arrived(found));
  CHECK(found.error() == Errc::invalid_argument);
  CHECK(found.result().ensemble == "west");
  ensembles.world.ensemble.start();
}

TEST_CASE("map verify: a client whose context nobody runs ends no check after its deadline",
          "[ensembles]") {
  Ensembles ensembles;
  asio::io_context unrun;
  ClientOptions options = ensembles.world.options("unrun");
  options.session_factory = ensembles.west.session_factory("unrun");
  const auto east = ensembles.client(0, "mine-east");
  auto west = std::make_unique<Client>(unrun.get_executor(), options);
  {
    const EnsembleMap map{even_layout(), {{"east", *east}, {"west", *west}}};
    Outcome<MapVerdict> found;
    map.async_verify(map_path, {Deadline{50ms}}, found.handler());
    REQUIRE(ensembles.world.run_until_arrived(found));
    CHECK(found.error() == Errc::deadline_exceeded_outcome_unknown);
    CHECK(found.result().ensemble == "west");
  }
  unrun.restart();
  west.reset();
  unrun.run();
}

TEST_CASE("map verify: a closed client is an error at its ensemble", "[ensembles]") {
  for (const char* closed : {"east", "west"}) {
    Ensembles ensembles;
    Process mine{ensembles, "mine"};
    const auto ended = run<bool>(ensembles.world, [&](auto done) {
      mine.map.client(closed).async_close(Deadline{1s}, std::move(done));
    });
    REQUIRE(ended.arrived());
    const auto found = run<MapVerdict>(
        ensembles.world, [&](auto done) { mine.map.async_verify(map_path, std::move(done)); });
    REQUIRE(found.arrived());
    CHECK(found.error() == Errc::closed);
    CHECK(found.result().ensemble == closed);
  }
}

TEST_CASE("map verify: a server that has missed the newest layout does not let an old one pass",
          "[ensembles]") {
  Ensembles ensembles;
  ensembles.make(0, "/custodian", {});
  ensembles.make(0, map_path, even_layout().text());
  ensembles.world.ensemble.leave_server_behind();
  ensembles.world.ensemble.operate(request::Set{map_path, uneven_layout().text()});
  // The session of this client begins at the server that shows the layout before.
  Process mine{ensembles, "mine"};
  const auto found = run<MapVerdict>(
      ensembles.world, [&](auto done) { mine.map.async_verify(map_path, std::move(done)); });
  REQUIRE(found.arrived());
  CHECK(found.error() == Errc::invalid_argument);
}

TEST_CASE("map verify: a layout in another order of lines is the same layout", "[ensembles]") {
  Ensembles ensembles;
  ensembles.make(0, "/custodian", {});
  ensembles.make(0, map_path,
                 "custodian ensembles, layout 1\n"
                 "pin: west /at-west\npin: east /at-east\n"
                 "ensemble: west 1\nensemble: east 1\ndepth: 2\nversion: 1\n");
  const Process mine{ensembles, "mine"};
  const auto found = run<MapVerdict>(
      ensembles.world, [&](auto done) { mine.map.async_verify(map_path, std::move(done)); });
  REQUIRE(found.arrived());
  CHECK_FALSE(found.error());
}

TEST_CASE("map verify: the blocking form throws an error whose text names both layouts",
          "[ensembles]") {
  testing::FakeEnsemble east;
  testing::FakeEnsemble west;
  const auto map_of = [&](const EnsembleLayout& layout) {
    return EnsembleMap{layout, std::map<std::string, ClientOptions>{{"east", east.options("a")},
                                                                    {"west", west.options("b")}}};
  };
  const EnsembleMap first = map_of(even_layout());
  first.verify("/map");
  first.verify("/map");
  const EnsembleMap second = map_of(uneven_layout());
  try {
    second.verify("/map");
    FAIL("another layout passes");
  } catch (const Error& error) {
    CHECK(error.code() == Errc::invalid_argument);
    CHECK(error.code() == ErrorCondition::caller_mistake);
    const std::string text = error.what();
    CHECK(text.find(even_layout().fingerprint()) != std::string::npos);
    CHECK(text.find(uneven_layout().fingerprint()) != std::string::npos);
    CHECK(text.find("east") != std::string::npos);
  }
  const auto refused = [&](const std::string& path) {
    try {
      first.verify(path);
    } catch (const Error& error) {
      return error.code() == Errc::invalid_argument;
    }
    return false;
  };
  CHECK(refused("map"));
  CHECK(refused("/"));
}

}  // namespace
}  // namespace custodian::tests::map_verify_test
