#include "demo.hpp"

#include <poll.h>

#include <csignal>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace custodian::demo {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interruptions() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

/// Makes the directory of the demo's files. If the demo runs its own server, the files are in the
/// server's directory, and are removed with it even if the demo is killed.
std::filesystem::path make_directory(const std::string& wanted,
                                     const testing::TestingServer* server) {
  std::filesystem::path directory = wanted;
  if (wanted.empty() && server != nullptr) directory = server->directory() / "demo";
  if (directory.empty()) {
    std::string name = (std::filesystem::temp_directory_path() / "custodian-demo-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::system_error{errno, std::generic_category(), name};
    }
    return name;
  }
  std::filesystem::create_directories(directory);
  if (!std::filesystem::is_empty(directory)) {
    throw std::runtime_error{wanted + " is not empty; the demo keeps its files in it"};
  }
  return std::filesystem::absolute(directory);
}

std::string random_root() {
  std::random_device device;
  std::ostringstream root;
  root << "/custodian-demo/" << std::hex << device() << device();
  return root.str();
}

}  // namespace

Demo::Demo(Settings settings)
    : settings_{std::move(settings)}, deadline_{settings_.time_limit}, root_{random_root()} {
  note_interruptions();
}

Demo::~Demo() {
  // The clients end before the server: a client that still holds a lock would wait for the server.
  workers_.clear();
  mutex_.reset();
  client_.reset();
  std::error_code ignored;
  if (settings_.directory.empty() && !directory_.empty())
    std::filesystem::remove_all(directory_, ignored);
}

std::string Demo::file(const char* name) const { return (directory_ / name).string(); }

bool Demo::run() {
  std::string servers = settings_.servers;
  if (servers.empty()) {
    testing::TestingServerOptions options;
    options.tick_time = settings_.tick;
    server_ = std::make_unique<testing::TestingServer>(std::move(options));
    servers = settings_.servers = server_->connect_string();
    display_.tell("a ZooKeeper server runs at " + servers + ", with a tick of " +
                  std::to_string(settings_.tick.count()) + " ms");
  }
  directory_ = make_directory(settings_.directory, server_.get());
  client_ = std::make_unique<Client>(servers);
  client_->wait_connected({.deadline = deadline_});
  mutex_ = std::make_unique<InterProcessMutex>(*client_, root_ + "/lock");
  std::ofstream{file("counter")} << 0;
  for (const char* name : {"history", "waits"}) const std::ofstream empty{file(name)};
  if (server_) fired_before_ = fired_watches();

  start_workers();
  follow_workers();
  display_.finish();
  const bool all_right = summarise();
  client_->remove(root_, {.missing = Missing::is_fine,
                          .descendants = Descendants::are_removed,
                          .deadline = deadline_});
  return all_right;
}

// -- The workers ----------------------------------------------------------------------------------

void Demo::start_workers() {
  // This worker is killed after a third of its work.
  constexpr int victim = 2;
  // The touch interval is half a tick and some slack; locks need a session timeout of three such
  // intervals.
  const std::chrono::milliseconds touch_interval = tick() * 3 / 4;
  const auto session_timeout = std::max(settings_.session_timeout, 3 * touch_interval);
  for (int number = 1; number <= settings_.workers; ++number) {
    const bool dies = settings_.kill && number == victim;
    const std::vector<std::string> arguments{
        "--servers",
        settings_.servers,
        "--path",
        mutex_->path(),
        "--number",
        std::to_string(number),
        "--increments",
        std::to_string(settings_.increments),
        "--directory",
        directory_.string(),
        "--hold",
        std::to_string(settings_.hold.count()),
        "--session-timeout",
        std::to_string(session_timeout.count()),
        "--touch-interval",
        std::to_string(touch_interval.count()),
        "--hang-at",
        std::to_string(dies ? (settings_.increments + 2) / 3 : 0)};
    workers_.push_back(
        std::make_unique<WorkerProcess>(number, settings_.worker_program, arguments));
  }
  while (!all_ready()) listen();
  display_.tell(std::to_string(settings_.workers) +
                " workers are connected, each in a process of its own;\nsession timeout " +
                std::to_string(workers_.front()->session_timeout().count()) + " ms");
  for (const auto& worker : workers_) worker->let_begin();
  if (!settings_.kill) let_finish();
}

void Demo::let_finish() {
  may_finish_ = true;
  for (const auto& worker : workers_) worker->let_finish();
}

void Demo::follow_workers() {
  auto next_picture = Deadline::Clock::now();
  while (!all_ended()) {
    listen();
    if (settings_.kill && !kill_) kill_the_one_inside();
    if (Deadline::Clock::now() >= next_picture) {
      draw();
      next_picture = Deadline::Clock::now() + std::chrono::milliseconds{100};
    }
  }
  draw();
}

void Demo::kill_the_one_inside() {
  for (const auto& worker : workers_) {
    if (worker->stage() != WorkerProcess::Stage::inside) continue;
    // There must be another worker in the queue, which can take over. Each worker keeps its last
    // increment until now: otherwise fast workers might be done before the slow one is inside.
    if (!may_finish_) let_finish();
    if (mutex_->queue_length() < 2) return;
    kill_ = Kill{worker->number(), BootClock::now(), worker->increments_done(),
                 worker->session_timeout()};
    worker->kill();
    display_.tell(
        "killed worker " + std::to_string(kill_->worker) +
        " (SIGKILL) in the midst of an increment:\nit has read the counter and not written it." +
        " The lock passes on when its\nsession times out.");
    return;
  }
}

void Demo::listen() {
  check_time();
  std::vector<pollfd> sources;
  for (const auto& worker : workers_) {
    // poll() skips negative descriptors: those of workers that have ended.
    sources.push_back({.fd = worker->descriptor(), .events = POLLIN, .revents = 0});
  }
  constexpr int moment_ms = 50;
  if (::poll(sources.data(), sources.size(), moment_ms) <= 0) return;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].revents != 0) workers_[i]->listen();
    if (workers_[i]->stage() == WorkerProcess::Stage::failed) {
      throw std::runtime_error{"worker " + std::to_string(workers_[i]->number()) + " has failed"};
    }
  }
}

void Demo::check_time() const {
  if (interrupted != 0) throw Interrupted{};
  if (deadline_.passed()) {
    throw std::runtime_error{"not done after " + std::to_string(settings_.time_limit.count()) +
                             " s (--time-limit)"};
  }
}

bool Demo::all_ready() const {
  for (const auto& worker : workers_) {
    if (worker->stage() == WorkerProcess::Stage::starting) return false;
  }
  return true;
}

bool Demo::all_ended() const {
  for (const auto& worker : workers_) {
    if (!worker->has_ended()) return false;
  }
  return true;
}

long Demo::increments_done() const {
  long sum = 0;
  for (const auto& worker : workers_) sum += worker->increments_done();
  return sum;
}

void Demo::draw() {
  const std::vector<Participant> queue = mutex_->participants();
  Display::Picture picture;
  picture.done = increments_done();
  picture.planned = static_cast<long>(settings_.workers) * settings_.increments;
  if (!queue.empty()) {
    picture.holder = queue.front().identity;
    if (kill_ && picture.holder == "worker " + std::to_string(kill_->worker)) {
      picture.holder += " (dead)";
    } else if (kill_ && !std::exchange(taken_over_, true)) {
      display_.tell("the dead worker's session is over, and the queue goes on");
    }
    picture.waiting = queue.size() - 1;
  }
  display_.show(picture);
}

}  // namespace custodian::demo
