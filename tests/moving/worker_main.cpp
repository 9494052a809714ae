/// \file
/// A process with a moving map over the ensembles east and west, in the words of lines.hpp.
///
///   custodian-moving-worker EAST WEST SESSION-TIMEOUT-MS TOUCH-INTERVAL-MS REGISTER-PORT PATHS
///   SEED

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "custodian/deadline.hpp"
#include "moving/contender.hpp"
#include "moving/lines.hpp"
#include "moving/plan.hpp"

namespace custodian::tests::moving {
namespace {

using namespace std::chrono_literals;

constexpr int cycling_threads = 4;

struct Settings {
  std::map<std::string, std::string> servers;
  std::chrono::milliseconds session_timeout;
  std::chrono::milliseconds touch_interval;
  std::uint16_t register_port;
  int paths;
  unsigned seed;
};

std::map<std::string, Client> clients_of(const Settings& settings) {
  std::map<std::string, Client> clients;
  for (const auto& [name, servers] : settings.servers) {
    ClientOptions options;
    options.servers = servers;
    options.session_timeout = settings.session_timeout;
    options.touch_interval = settings.touch_interval;
    clients.try_emplace(name, options);
  }
  return clients;
}

class Worker {
 public:
  explicit Worker(const Settings& settings)
      : settings_{settings}, paths_{paths_of(settings.paths)}, clients_{clients_of(settings)} {}

  void obey(const std::string& line) {
    std::istringstream text{line};
    std::string word;
    text >> word;
    if (word == "work") work();
    if (word == "hold") hold(text);
    if (word == "let-go") ++let_go_;
    if (word == "visit") visit(text);
    if (word == "rest") rest();
    if (word == "move") move(text);
  }

 private:
  [[nodiscard]] Site site() {
    return {clients_, map_, settings_.register_port, settings_.session_timeout};
  }

  void work() {
    for (unsigned number = 0; number < cycling_threads; ++number) {
      start([this, seed = settings_.seed * cycling_threads + number] { cycle(seed); });
    }
  }
  /// Most cycles use few paths; some holds are longer, and some waits are given up.
  void cycle(unsigned seed) {
    Contender contender{site()};
    std::mt19937 random{seed};
    const auto one_in = [&](unsigned number) { return random() % number == 0; };
    while (!rests_) {
      const std::size_t hot = std::max<std::size_t>(4, paths_.size() / 50);
      const bool is_hot = !one_in(3);
      const std::string& path = paths_[random() % (is_hot ? hot : paths_.size())];
      const std::chrono::milliseconds length{one_in(50) ? 500 : random() % 20};
      std::optional<Deadline> end;
      const auto goes_on = [&] {
        if (!end) end = Deadline{length};
        return !end->passed();
      };
      // Some of the other paths are held for long.
      if (is_hot && !one_in(10)) {
        contender.take_at_last(path, goes_on);
      } else {
        contender.take(path, is_hot ? 100ms : 1000ms, goes_on);
      }
    }
  }
  void hold(std::istream& text) {
    std::string path;
    text >> path;
    start([this, path, let_go = let_go_.load()] {
      Contender contender{site()};
      bool is_said = false;
      contender.take_at_last(path, [&] {
        if (!std::exchange(is_said, true)) say("kept " + path);
        return let_go_ == let_go;
      });
    });
  }
  void visit(std::istream& text) {
    std::size_t from = 0;
    std::size_t to = 0;
    text >> from >> to;
    start([this, from, to] {
      Contender contender{site()};
      for (std::size_t number = from; number < to; ++number) {
        contender.take_at_last(paths_.at(number), [] { return false; });
      }
      say("visited " + std::to_string(from));
    });
  }
  void move(std::istream& text) {
    int step = 0;
    text >> step;
    start([this, step] {
      try {
        map_.move_to(layout_of_step(step));
        say("moved " + std::to_string(step));
      } catch (const Error& error) {
        say("wrong a move has failed: " + std::string{error.what()});
      }
    });
  }
  void rest() {
    rests_ = true;
    ++let_go_;
    for (std::thread& each : threads_) each.join();
    threads_.clear();
    say("rests");
  }

  template <typename Function>
  void start(Function function) {
    threads_.emplace_back([function = std::move(function)]() mutable {
      try {
        function();
      } catch (const std::exception& error) {
        say("wrong a thread has failed: " + std::string{error.what()});
      }
    });
  }

  const Settings settings_;
  const std::vector<std::string> paths_;
  std::map<std::string, Client> clients_;
  MovingMap map_{{{"east", clients_.at("east")}, {"west", clients_.at("west")}},
                 {.announce_within = 300ms, .look_every = 200ms}};
  std::atomic<bool> rests_ = false;
  std::atomic<int> let_go_ = 0;
  std::vector<std::thread> threads_;
};

void run(const Settings& settings) {
  Worker worker{settings};
  for (std::string line; std::getline(std::cin, line);) worker.obey(line);
  worker.obey("rest");
}

}  // namespace
}  // namespace custodian::tests::moving

int main(int argc, char* argv[]) {
  if (argc != 8) return 2;
  try {
    custodian::tests::moving::run({.servers = {{"east", argv[1]}, {"west", argv[2]}},
                                   .session_timeout = std::chrono::milliseconds{std::stoi(argv[3])},
                                   .touch_interval = std::chrono::milliseconds{std::stoi(argv[4])},
                                   .register_port = static_cast<std::uint16_t>(std::stoi(argv[5])),
                                   .paths = std::stoi(argv[6]),
                                   .seed = static_cast<unsigned>(std::stoul(argv[7]))});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
