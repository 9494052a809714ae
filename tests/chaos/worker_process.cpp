#include "worker_process.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace custodian::chaos {
namespace {

std::string from_hexadecimal(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// Takes the next word as a token. Throws std::runtime_error if it is not one.
Token take_token(std::istream& words) {
  std::string text;
  words >> text;
  const auto token = parse_token(text);
  if (!token) throw std::runtime_error{"a worker says a token that is none: " + text};
  return *token;
}

}  // namespace

WorkerProcess::WorkerProcess(std::string name, const std::string& program,
                             const std::vector<std::string>& arguments)
    : name_{std::move(name)}, process_{program, arguments} {}

void WorkerProcess::keep(const std::string& lock) {
  kept_.reset();
  process_.tell("keep " + lock);
}

void WorkerProcess::listen() {
  for (const std::string& line : process_.listen()) understand(line);
}

void WorkerProcess::understand(const std::string& line) {
  std::istringstream words{line};
  std::string what;
  std::string lock;
  words >> what;
  if (what == "ready") {
    ready_ = true;
  } else if (what == "granted") {
    words >> lock;
    Token& newest = tokens_[lock];
    newest = std::max(newest, take_token(words));
    ++grants_;
  } else if (what == "kept") {
    Kept kept;
    std::string password;
    words >> kept.lock;
    kept.token = take_token(words);
    words >> kept.node >> kept.session >> password;
    kept.password = from_hexadecimal(password);
    kept_ = std::move(kept);
  } else if (what == "lost") {
    words >> lock;
    lost_.insert(take_token(words));
  } else if (what == "done") {
    std::size_t load = 0;
    words >> load;
    load_ = load;
  }
}

}  // namespace custodian::chaos
