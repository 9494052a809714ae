#include "periodic/once_view.hpp"

#include "text/duration.hpp"
#include "text/printable_text.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {

std::string no_turn_text(const std::string& job, const TurnResult& result) {
  std::string text = "nothing is run: " + job + ": " + printable(result.explain());
  if (result.next) text += "; the next run may begin at " + iso_time(*result.next);
  return text;
}

std::string bad_record_text(const std::string& record) {
  return record +
         " is not a record that this version of custodian once can read. Nothing is run, and it "
         "stays "
         "as it is. Is the path right, and is there a newer custodian? Otherwise look at it "
         "(zkCli.sh: get " +
         record + "), and delete it: the next call is then the first";
}

std::vector<std::vector<std::string>> rows_of(const PeriodRun& run) {
  std::vector<std::vector<std::string>> rows{{"STATE", std::string{to_string(run.state)}},
                                             {"BY", printable(run.by)},
                                             {"DUE", plain_time(run.due)},
                                             {"BEGUN", plain_time(run.begun)},
                                             {"EVERY", format_duration(run.every)},
                                             {"ATTEMPT", std::to_string(run.attempt)},
                                             {"MISSED", std::to_string(run.missed)}};
  if (run.status) rows.push_back({"EXIT STATUS", std::to_string(*run.status)});
  if (run.lasted) rows.push_back({"LASTED", format_duration(*run.lasted)});
  return rows;
}

Json json_of_job(const std::string& job, const std::optional<PeriodRun>& run) {
  Json json;
  json["job"] = job;
  json["last"] = nullptr;
  if (!run) return json;
  Json last;
  last["state"] = std::string{to_string(run->state)};
  put_identity(last, run->by);
  last["node"] = run->node;
  last["due"] = iso_time(run->due);
  last["begun"] = iso_time(run->begun);
  last["every_ms"] = run->every.count();
  last["attempt"] = run->attempt;
  last["missed"] = run->missed;
  last["exit_status"] = nullptr;
  if (run->status) last["exit_status"] = *run->status;
  last["lasted_ms"] = nullptr;
  if (run->lasted) last["lasted_ms"] = run->lasted->count();
  json["last"] = std::move(last);
  return json;
}

}  // namespace custodian::cli
