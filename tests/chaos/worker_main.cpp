/// \file
/// One of the processes that contend for the locks of a chaos run; custodian-chaos starts it.

#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>

#include "contenders.hpp"

int main(int argc, char* argv[]) {
  // The kernel kills the worker with the driver: a worker that is stopped could not see that the
  // driver is gone.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);

  custodian::chaos::ContenderSettings settings;
  int session_timeout = 0;
  int touch_interval = 0;
  std::string directory;
  CLI::App app{"A worker of custodian-chaos, which starts it."};
  app.add_option("--name", settings.name)->required();
  app.add_option("--servers", settings.servers)->required();
  app.add_option("--tls-ca", settings.authority_file);
  app.add_option("--root", settings.root)->required();
  app.add_option("--lock", settings.locks)->required();
  app.add_option("--session-timeout", session_timeout)->required();
  app.add_option("--touch-interval", touch_interval)->required();
  app.add_option("--register-port", settings.register_port)->required();
  app.add_option("--seed", settings.seed)->required();
  app.add_option("--directory", directory)->required();
  CLI11_PARSE(app, argc, argv);
  settings.session_timeout = std::chrono::milliseconds{session_timeout};
  settings.touch_interval = std::chrono::milliseconds{touch_interval};
  settings.directory = directory;

  custodian::chaos::DriverLine driver;
  const std::string name = settings.name;
  try {
    custodian::chaos::Contenders contenders{std::move(settings), driver};
    contenders.run();
  } catch (const std::exception& error) {
    std::cerr << "worker " << name << ": " << error.what() << '\n';
    ::_exit(1);  // a thread still listens to the driver
  }
  ::_exit(0);
}
