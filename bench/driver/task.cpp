#include <sstream>
#include <stdexcept>

#include "driver.hpp"

namespace custodian::bench {

Task parse_task(const std::string& words) {
  Task task;
  std::istringstream stream{words};
  for (std::string word; stream >> word;) {
    const std::size_t sign = word.find('=');
    if (sign == word.npos) throw std::invalid_argument{word + ": no value"};
    const std::string key = word.substr(0, sign);
    const std::string value = word.substr(sign + 1);
    if (key == "work") {
      task.work = value;
    } else if (key == "servers") {
      task.servers = value;
    } else if (key == "path") {
      task.path = value;
    } else if (key == "counter") {
      task.counter = value;
    } else if (key == "threads") {
      task.threads = std::stoi(value);
    } else if (key == "sessions") {
      task.sessions = std::stoi(value);
    } else if (key == "waiters") {
      task.waiters = std::stoi(value);
    } else if (key == "locks") {
      task.locks = std::stoi(value);
    } else if (key == "write_every") {
      task.write_every = std::stoi(value);
    } else if (key == "passes") {
      task.passes = std::stoi(value);
    } else if (key == "keep") {
      task.keep = std::stoi(value) != 0;
    } else if (key == "share") {
      task.share = std::stoi(value);
    } else if (key == "hold_us") {
      task.hold = std::chrono::microseconds{std::stoi(value)};
    } else if (key == "pause_us") {
      task.pause = std::chrono::microseconds{std::stoi(value)};
    } else if (key == "seconds") {
      task.seconds = std::chrono::duration<double>{std::stod(value)};
    } else {
      throw std::invalid_argument{word + ": not known"};
    }
  }
  return task;
}

}  // namespace custodian::bench
