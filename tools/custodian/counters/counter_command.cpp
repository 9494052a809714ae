#include "counters/counter_command.hpp"

#include <charconv>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "barriers/limited_wait.hpp"
#include "custodian/atomics/distributed_atomic_integer.hpp"
#include "custodian/atomics/distributed_atomic_long.hpp"
#include "options/choice_option.hpp"
#include "options/exit_status.hpp"
#include "options/messages.hpp"
#include "options/path_argument.hpp"
#include "options/usage_error.hpp"
#include "queue/looking.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

enum class CounterAction { get, add, set };

struct CounterRequest {
  std::string path{};
  CounterAction action = CounterAction::get;
  std::optional<std::string> number{};
  bool is_integer = false;
};

/// Parses the number. Throws UsageError, also for a number that is too great, which CLI11 would
/// replace by the greatest one.
template <typename Number>
Number number_of(const CounterRequest& request) {
  const bool is_wanted = request.action != CounterAction::get;
  if (is_wanted && !request.number) throw UsageError{"which number? It stands behind the action"};
  if (!is_wanted && request.number) throw UsageError{"get takes no number"};
  Number number = 0;
  if (!is_wanted) return number;
  const std::string& text = *request.number;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && behind == end) return number;
  throw UsageError{printable(text) + " is no number of " + std::to_string(sizeof number) +
                   " bytes"};
}

template <typename Counter, typename Number>
int use(Counter& counter, CounterAction action, Number number) {
  switch (action) {
    case CounterAction::get: std::cout << counter.load().value << '\n'; break;
    case CounterAction::add: std::cout << counter.fetch_add(number).after.value << '\n'; break;
    case CounterAction::set: counter.store(number); break;
  }
  return to_int(ExitStatus::ok);
}

int use_counter(const GlobalOptions& options, const CounterRequest& request) {
  const std::int64_t number =
      request.is_integer ? number_of<std::int32_t>(request) : number_of<std::int64_t>(request);
  const Client client = connect(options);
  const UpdateOptions counted_once{.settle = Settle::exactly_once};
  try {
    if (request.is_integer) {
      DistributedAtomicInteger counter{client, request.path, counted_once};
      return use(counter, request.action, static_cast<std::int32_t>(number));
    }
    DistributedAtomicLong counter{client, request.path, counted_once};
    return use(counter, request.action, number);
  } catch (const Error& error) {
    // The status is `failure`, so that no script tries again, and counts twice.
    if (error.code() != ErrorCondition::outcome_unknown) throw;
    say(printable(request.path) + " was changed, or not: " + error.code().message());
    return to_int(ExitStatus::failure);
  }
}

}  // namespace

void add_counter_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand("counter", "reads a number, adds to it, or sets it");
  command->group(waiting_group);
  command->footer(
      "Apache Curator's DistributedAtomicLong. An addition prints the sum, and is counted once, "
      "also "
      "when a reply is lost.\n\n"
      "Examples:\n"
      "  custodian counter /orders add 1\n"
      "  custodian counter /orders get");
  const auto request = std::make_shared<CounterRequest>();
  add_path_argument(*command, request->path, "the path of the number's node")->required();
  add_choice(
      *command, "ACTION", request->action,
      {{"get", CounterAction::get}, {"add", CounterAction::add}, {"set", CounterAction::set}},
      "get, add, set")
      ->required();
  command->add_option("N", request->number, "what to add, or to set; it may be negative");
  command->add_flag("--integer", request->is_integer,
                    "a number of four bytes, as a SharedCount, instead of eight");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return use_counter(options, *request); });
    };
  });
}

}  // namespace custodian::cli
