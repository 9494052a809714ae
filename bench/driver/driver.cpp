#include "driver.hpp"

#include <unistd.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "row.hpp"
#include "statistics.hpp"

namespace custodian::bench {
namespace {

using Json = nlohmann::json;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void pause(std::chrono::microseconds time) {
  if (time.count() > 0) std::this_thread::sleep_for(time);
}

struct Samples {
  std::vector<std::int64_t> acquire{};
  std::vector<std::int64_t> handover{};
  std::int64_t cycles = 0;
  std::int64_t writes = 0;
  std::int64_t violations = 0;
};

Json to_json(const std::vector<Samples>& all, std::vector<std::int64_t> Samples::*times) {
  Histogram histogram;
  for (const Samples& samples : all) {
    for (const std::int64_t time : samples.*times) {
      histogram.add(Histogram::bucket_of(time));
      histogram.add_maximum(static_cast<double>(time));
    }
  }
  return {{"buckets", histogram.buckets()}, {"maximum", histogram.maximum()}};
}

/// One thread's part of a measurement.
class Runner {
 public:
  Runner(const Task& task, Locker& locker, SharedPage& page, int index)
      : task_{&task},
        locker_{&locker},
        page_{&page},
        index_{index},
        who_{::getpid() * 4096L + 1 + index} {
    samples_.acquire.reserve(1 << 16);
  }

  void run(std::int64_t deadline) {
    do {
      if (reads()) {
        read();
      } else {
        write();
      }
      pause(task_->pause);
    } while (now() < deadline);
  }
  [[nodiscard]] Samples& samples() { return samples_; }

 private:
  [[nodiscard]] bool reads() const {
    return task_->write_every > 0 && (samples_.cycles + index_) % task_->write_every != 0;
  }

  void write() {
    const std::int64_t begin = now();
    locker_->lock();
    const std::int64_t held = now();
    if (!page_->enter(who_)) ++samples_.violations;
    samples_.acquire.push_back(held - begin);
    // A release after `begin` means that this thread was already waiting: the lock was handed over.
    if (const std::int64_t released = page_->last_release(); released > begin)
      samples_.handover.push_back(held - released);
    pause(task_->hold);
    if (!page_->leave(who_, now())) ++samples_.violations;
    locker_->unlock();
    ++samples_.cycles;
    ++samples_.writes;
  }

  void read() {
    const std::int64_t begin = now();
    locker_->lock_shared();
    samples_.acquire.push_back(now() - begin);
    if (page_->is_written()) ++samples_.violations;
    pause(task_->hold);
    if (page_->is_written()) ++samples_.violations;
    locker_->unlock_shared();
    ++samples_.cycles;
  }

  const Task* task_;
  Locker* locker_;
  SharedPage* page_;
  const int index_;
  const std::int64_t who_;
  Samples samples_;
};

class Service {
 public:
  explicit Service(Contestant& contestant) : contestant_{&contestant} {}

  std::string answer(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string command = line.substr(0, space);
    if (command == "prepare") {
      prepare(parse_task(line.substr(space + 1)));
      return "ready";
    }
    if (command == "begin") {
      begin();
      return "done";
    }
    if (command == "release") return "released " + row_.value().release();
    if (command == "result") return result().dump();
    throw std::invalid_argument{line + ": not known"};
  }

 private:
  void prepare(Task task) {
    clear();
    task_ = std::move(task);
    page_.emplace(task_.counter);
    if (task_.work == "start" || task_.work == "waiters") return;
    if (task_.work == "count") {
      std::vector<std::unique_ptr<Counter>> counters;
      for (int i = 0; i < task_.threads; ++i) counters.push_back(contestant_->counter(task_, i));
      counting_.emplace(std::move(counters));
      return;
    }
    if (task_.work == "release") {
      std::vector<std::unique_ptr<Gate>> gates;
      for (int i = 0; i < task_.threads; ++i) gates.push_back(contestant_->gate(task_, i));
      releasing_.emplace(std::move(gates));
      return;
    }
    for (int i = 0; i < task_.threads; ++i) lockers_.push_back(contestant_->locker(task_, i));
    if (task_.work == "sessions") {
      row_.emplace(lockers_);
      row_->wait_held();
    }
    if (task_.locks > 0) holding_ = contestant_->hold(task_);
  }

  void begin() {
    const std::int64_t start = now();
    if (task_.work == "start") {
      lockers_.push_back(contestant_->locker(task_, 0));
      lockers_.back()->lock();
      samples_.push_back({.acquire = {now() - start}, .cycles = 1});
    } else if (task_.work == "waiters") {
      drain_ = contestant_->drain(task_);
    } else if (task_.work == "cycle") {
      cycle(start + nanoseconds());
    } else if (task_.work == "count") {
      counting_.value().run(start + nanoseconds());
    } else if (task_.work == "release") {
      releasing_.value().run(start + nanoseconds());
    } else {
      throw std::invalid_argument{task_.work + ": no such work"};
    }
    seconds_ = static_cast<double>(now() - start) / 1e9;
  }

  [[nodiscard]] std::int64_t nanoseconds() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(task_.seconds).count();
  }

  void cycle(std::int64_t deadline) {
    std::vector<Runner> runners;
    for (int i = 0; i < task_.threads; ++i) {
      runners.emplace_back(task_, *lockers_.at(static_cast<std::size_t>(i)), *page_, i);
    }
    if (runners.size() == 1) {
      runners.front().run(deadline);
    } else {
      run(runners, deadline);
    }
    for (Runner& runner : runners) samples_.push_back(std::move(runner.samples()));
  }

  static void run(std::vector<Runner>& runners, std::int64_t deadline) {
    std::mutex mutex;
    std::exception_ptr error;
    {
      std::vector<std::jthread> threads;
      for (Runner& runner : runners) {
        threads.emplace_back([&] {
          try {
            runner.run(deadline);
          } catch (...) {
            const std::scoped_lock guard{mutex};
            error = std::current_exception();
          }
        });
      }
    }
    if (error) std::rethrow_exception(error);
  }

  Json result() {
    if (task_.work == "start") lockers_.at(0)->unlock();
    // The times are read before clear() lets the rest of the queue have the lock: only the releases
    // that were ordered count.
    if (row_) samples_.push_back({.handover = row_->handovers()});
    if (counting_) {
      samples_.push_back({.acquire = counting_->times(),
                          .cycles = static_cast<std::int64_t>(counting_->times().size()),
                          .violations = counting_->error()});
    }
    if (releasing_) {
      samples_.push_back({.acquire = releasing_->times(),
                          .handover = releasing_->last_times(),
                          .cycles = static_cast<std::int64_t>(releasing_->last_times().size()),
                          .violations = releasing_->early()});
    }
    Json json{{"seconds", seconds_}};
    std::int64_t cycles = 0;
    std::int64_t writes = 0;
    std::int64_t violations = 0;
    for (const Samples& samples : samples_) {
      cycles += samples.cycles;
      writes += samples.writes;
      violations += samples.violations;
    }
    json["acquire"] = to_json(samples_, &Samples::acquire);
    json["handover"] = to_json(samples_, &Samples::handover);
    if (drain_) {
      cycles = writes = drain_->queued;
      violations = drain_->violations;
      json["queued"] = drain_->queued;
      json["queue_seconds"] = drain_->queue_seconds;
      json["drain_seconds"] = drain_->drain_seconds;
      json["in_order"] = drain_->in_order;
      json["memory_bytes"] = drain_->memory_bytes;
      json["peak_bytes"] = drain_->peak_bytes;
    }
    if (holding_) {
      json["locks"] = task_.locks;
      json["hold_seconds"] = holding_->seconds;
      json["memory_bytes"] = holding_->memory_bytes;
      json["let_go_seconds"] = contestant_->let_go();
    }
    json["cycles"] = cycles;
    json["writes"] = writes;
    json["violations"] = violations;
    clear();
    return json;
  }

  void clear() {
    row_.reset();
    counting_.reset();
    releasing_.reset();
    lockers_.clear();
    samples_.clear();
    drain_.reset();
    holding_.reset();
    page_.reset();
  }

  Contestant* contestant_;
  Task task_;
  std::optional<SharedPage> page_;
  std::vector<std::unique_ptr<Locker>> lockers_;
  std::optional<Row> row_;
  std::optional<Counting> counting_;
  std::optional<Releasing> releasing_;
  std::vector<Samples> samples_;
  std::optional<Drain> drain_;
  std::optional<Holding> holding_;
  double seconds_ = 0;
};

}  // namespace

void Locker::lock_shared() { throw std::logic_error{"no read/write lock"}; }
void Locker::unlock_shared() { throw std::logic_error{"no read/write lock"}; }
std::string Locker::session() const { return {}; }
std::unique_ptr<Counter> Contestant::counter(const Task& task, int /*index*/) {
  throw std::logic_error{task.work + ": not of this contestant"};
}
std::unique_ptr<Gate> Contestant::gate(const Task& task, int /*index*/) {
  throw std::logic_error{task.work + ": not of this contestant"};
}
Drain Contestant::drain(const Task& task) {
  throw std::logic_error{task.work + ": not of this contestant"};
}
Holding Contestant::hold(const Task& task) {
  throw std::logic_error{std::to_string(task.locks) + " locks: not of this contestant"};
}
double Contestant::let_go() { throw std::logic_error{"nothing is held"}; }

int serve(Contestant& contestant) {
  Service service{contestant};
  for (std::string line; std::getline(std::cin, line);) {
    try {
      std::cout << service.answer(line) << '\n' << std::flush;
    } catch (const std::exception& error) {
      std::cout << "error " << error.what() << '\n' << std::flush;
    }
  }
  return 0;
}

std::int64_t resident_bytes() {
  std::int64_t all = 0;
  std::int64_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace custodian::bench
