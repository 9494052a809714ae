#include "barriers/barrier_command.hpp"

#include <memory>
#include <optional>
#include <string>

#include "barriers/limited_wait.hpp"
#include "custodian/barriers/distributed_barrier.hpp"
#include "options/choice_option.hpp"
#include "options/exit_status.hpp"
#include "options/path_argument.hpp"
#include "queue/looking.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {
namespace {

enum class BarrierAction { set, remove, wait };

struct BarrierRequest {
  std::string path{};
  BarrierAction action = BarrierAction::wait;
  std::optional<std::chrono::nanoseconds> wait{};
};

int use_barrier(const GlobalOptions& options, const BarrierRequest& request) {
  const Client client = connect(options);
  DistributedBarrier barrier{client, request.path};
  switch (request.action) {
    case BarrierAction::set: barrier.set(); break;
    case BarrierAction::remove: barrier.remove(); break;
    case BarrierAction::wait: {
      const Awaited removal{
          .wait = [&] { barrier.wait(); },
          .wait_for = [&](std::chrono::nanoseconds limit) { return barrier.wait_for(limit); },
          .is_over = [&] { return !barrier.is_set(); },
          .when_late = "the barrier " + printable(request.path) + " is set"};
      return wait_for(client, removal, request.wait);
    }
  }
  return to_int(ExitStatus::ok);
}

}  // namespace

void add_barrier_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command =
      app.add_subcommand("barrier", "sets a barrier, removes it, or waits until it is removed");
  command->group(waiting_group);
  command->footer(
      "Apache Curator's DistributedBarrier. It stays set until somebody removes it.\n\n"
      "Examples:\n"
      "  custodian barrier /migration set\n"
      "  custodian barrier /migration wait --wait 10m && ./serve");
  const auto request = std::make_shared<BarrierRequest>();
  add_path_argument(*command, request->path, "the path of the barrier's node")->required();
  add_choice(*command, "ACTION", request->action,
             {{"set", BarrierAction::set},
              {"remove", BarrierAction::remove},
              {"wait", BarrierAction::wait}},
             "set, remove, wait")
      ->required();
  add_wait_option(*command, request->wait);
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return use_barrier(options, *request); });
    };
  });
}

}  // namespace custodian::cli
