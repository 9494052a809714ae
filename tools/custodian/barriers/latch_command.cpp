#include "barriers/latch_command.hpp"

#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "barriers/limited_wait.hpp"
#include "custodian/barriers/count_down_latch.hpp"
#include "options/choice_option.hpp"
#include "options/exit_status.hpp"
#include "options/path_argument.hpp"
#include "queue/looking.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

enum class LatchAction { arrive, wait, count, remove };

struct LatchRequest {
  std::string path{};
  LatchAction action = LatchAction::wait;
  std::int32_t arrivals = 0;
  std::optional<std::chrono::nanoseconds> wait{};
};

int use_latch(const GlobalOptions& options, const LatchRequest& request) {
  const Client client = connect(options);
  CountDownLatch latch{client, request.path, request.arrivals};
  switch (request.action) {
    case LatchAction::arrive: latch.count_down(); break;
    case LatchAction::remove: latch.remove(); break;
    case LatchAction::count: std::cout << latch.count() << '\n'; break;
    case LatchAction::wait: {
      const Awaited opening{
          .wait = [&] { latch.wait(); },
          .wait_for = [&](std::chrono::nanoseconds limit) { return latch.wait_for(limit); },
          .is_over = [&] { return latch.try_wait(); },
          .when_late = "the latch " + printable(request.path) + " is not open"};
      return wait_for(client, opening, request.wait);
    }
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_latch_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("latch", "arrives at a latch, or waits until so many have arrived");
  command->group(waiting_group);
  command->footer(
      "A latch is used once. Each arrival is counted once, and stays.\n\n"
      "Examples:\n"
      "  custodian latch /start/7 arrive --arrivals 3\n"
      "  custodian latch /start/7 wait --arrivals 3 --wait 10m && ./open");
  const auto request = std::make_shared<LatchRequest>();
  add_path_argument(*command, request->path, "the path of the latch's node")->required();
  add_choice(*command, "ACTION", request->action,
             {{"arrive", LatchAction::arrive},
              {"wait", LatchAction::wait},
              {"count", LatchAction::count},
              {"remove", LatchAction::remove}},
             "arrive, wait, count (how many are missing), remove")
      ->required();
  command
      ->add_option("--arrivals", request->arrivals,
                   "how many open the latch, the same number in all clients")
      ->required()
      ->type_name("N");
  add_wait_option(*command, request->wait);
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return use_latch(options, *request); });
    };
  });
}

}  // namespace custodian::cli
