#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>

#include "demo.hpp"

namespace {

using Milliseconds = std::chrono::milliseconds;

/// The path of the worker, which is in the directory of this program.
std::string worker_beside_us() {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "custodian-demo-worker")
      .string();
}

/// Checks a range, which the help then shows as "1 to 9" instead of in CLI11's words.
CLI::Validator between(int least, int most) {
  return CLI::Range(least, most).description(std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace

int main(int argc, char* argv[]) {
  custodian::demo::Settings settings;
  CLI::App app{
      "Processes take turns on one lock.\n\n"
      "Starts a throwaway ZooKeeper server and several worker processes. They share a fair lock, "
      "and\n"
      "each adds to a counter in a plain file, again and again, while it holds the lock; nothing "
      "else\n"
      "protects the file. One worker is killed (SIGKILL) while it holds the lock, and the next in "
      "line\n"
      "takes over when the dead one's session has timed out. At the end everything is counted.\n\n"
      "Exits with 0 if all is right, with 1 if not.\n",
      "tools/demo"};
  int hold = static_cast<int>(settings.hold.count());
  int session_timeout = static_cast<int>(settings.session_timeout.count());
  int tick = static_cast<int>(settings.tick.count());
  int time_limit = static_cast<int>(settings.time_limit.count());
  bool no_kill = false;
  app.add_option("--workers", settings.workers, "processes that contend for the lock")
      ->check(between(2, 200))
      ->capture_default_str();
  app.add_option("--increments", settings.increments, "of each worker")
      ->check(between(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--hold", hold, "milliseconds that a worker takes for one increment")
      ->check(between(0, 10'000))
      ->capture_default_str();
  app.add_option("--session-timeout", session_timeout,
                 "milliseconds after which the server gives up a silent client, and its locks")
      ->check(between(1'000, 60'000))
      ->capture_default_str();
  app.add_flag("--no-kill", no_kill, "let every worker live");
  auto* tick_option =
      app.add_option("--tick", tick, "the throwaway server's unit of time, in milliseconds")
          ->check(between(100, 10'000))
          ->capture_default_str();
  app.add_option("--servers", settings.servers,
                 "use these servers (host:port,...) and start none; they are only talked to")
      ->excludes(tick_option);
  app.add_option("--directory", settings.directory,
                 "keep the counter and the history in this directory, which must be empty");
  app.add_option("--time-limit", time_limit, "seconds after which the demo gives up")
      ->check(between(1, 86'400))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  settings.hold = Milliseconds{hold};
  settings.session_timeout = Milliseconds{session_timeout};
  settings.tick = Milliseconds{tick};
  settings.time_limit = std::chrono::seconds{time_limit};
  settings.kill = !no_kill;

  try {
    settings.worker_program = worker_beside_us();
    custodian::demo::Demo demo{std::move(settings)};
    return demo.run() ? 0 : 1;
  } catch (const custodian::demo::Interrupted&) {
    std::cerr << "demo: interrupted\n";
    return 130;
  } catch (const std::exception& error) {
    std::cerr << "demo: " << error.what() << '\n';
    return 1;
  }
}
