#include "doctor/doctor_command.hpp"

#include <algorithm>
#include <iostream>
#include <memory>

#include "doctor/examination.hpp"
#include "options/duration_option.hpp"
#include "options/exit_status.hpp"
#include "options/path_argument.hpp"
#include "queue/looking.hpp"
#include "text/json_text.hpp"

namespace custodian::cli {
namespace {

struct DoctorRequest {
  ExaminationRequest examination{.touch_interval = ClientOptions{}.touch_interval};
  bool json = false;
};

int examine_and_tell(const GlobalOptions& options, const DoctorRequest& request) {
  ClientOptions of_client = options.client_options();
  of_client.touch_interval = request.examination.touch_interval;
  {
    // A mistake in the command line is reported as a usage error, not as a finding.
    ClientOptions to_check = of_client;
    to_check.touch_interval = std::chrono::milliseconds{1};
    validate(to_check);
  }
  const std::vector<Finding> findings = diagnose(examine(of_client, request.examination));
  const auto failed = std::ranges::count(findings, Verdict::fail, &Finding::verdict);
  if (request.json) {
    std::cout << to_line(json_of(findings)) << '\n';
  } else {
    for (const Finding& finding : findings) {
      for (const std::string& line : lines_of(finding)) std::cout << line << '\n';
    }
  }
  return to_int(failed == 0 ? ExitStatus::ok : ExitStatus::failure);
}

}  // namespace

void add_doctor_command(CLI::App& app, Invocation& invocation) {
  CLI::App* command = app.add_subcommand(
      "doctor", "tells whether these servers are good for locks, with plain advice");
  command->group(looking_group);
  command->footer(
      "Each server by itself, and all together; with a path, whether locks may be taken there.\n"
      "Leaves nothing behind. Exits with 1 if anything fails.\n\n"
      "Examples:\n"
      "  custodian doctor\n"
      "  custodian doctor /locks/backup --session-timeout 20s");
  const auto request = std::make_shared<DoctorRequest>();
  add_path_argument(*command, request->examination.path, "where locks are, or will be");
  add_duration_option(*command, "--touch-interval", request->examination.touch_interval,
                      "that of the programs it is about, ClientOptions::touch_interval (1500ms)");
  command
      ->add_option("--admin-port", request->examination.admin_port,
                   "of the servers' admin server, asked in plain HTTP where the word conf is not "
                   "allowed (8080, but none with TLS; 0: never)")
      ->type_name("PORT");
  command->add_flag("--json", request->json, "what was found, as a line of JSON");
  command->callback([&invocation, request] {
    invocation.run = [request](const GlobalOptions& options) {
      return with_errors_said([&] { return examine_and_tell(options, *request); });
    };
  });
}

}  // namespace custodian::cli
