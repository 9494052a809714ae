#include "worker_process.hpp"

#include <sstream>

namespace custodian::demo {

WorkerProcess::WorkerProcess(int number, const std::string& program,
                             const std::vector<std::string>& arguments)
    : number_{number}, process_{program, arguments} {}

void WorkerProcess::listen() {
  for (const std::string& line : process_.listen()) understand(line);
  if (!process_.has_ended()) return;
  if (stage_ != Stage::done || !process_.has_succeeded()) stage_ = Stage::failed;
}

void WorkerProcess::understand(const std::string& line) {
  std::istringstream words{line};
  std::string what;
  long value = 0;
  words >> what >> value;
  if (what == "ready") {
    stage_ = Stage::ready;
    timeout_ = std::chrono::milliseconds{value};
  } else if (what == "did") {
    done_ = static_cast<int>(value);
  } else if (what == "inside") {
    stage_ = Stage::inside;
  } else if (what == "done") {
    stage_ = Stage::done;
  }
}

void WorkerProcess::kill() {
  process_.kill();
  stage_ = Stage::killed;
}

}  // namespace custodian::demo
