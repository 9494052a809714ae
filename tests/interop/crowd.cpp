#include "crowd.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "support/test_client.hpp"

namespace custodian::tests {

Crowd::Crowd(const Peer& one, const Peer& other) : directory_{own_server().directory() / "crowd"} {
  for (int i = 0; i < size; ++i) {
    drivers_.emplace_back(i < size / 2 ? one : other);
    sessions_.emplace_back(drivers_.back(), "one-of-many");
  }
  for (Session& session : sessions_) static_cast<void>(session.id());
  std::filesystem::create_directory(directory_);
}

Crowd::~Crowd() {
  sessions_.clear();
  drivers_.clear();
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void Crowd::does(const std::string& command) {
  int number = 0;
  for (Session& session : sessions_)
    session.begin(command + ' ' + directory_.string() + ' ' + std::to_string(++number));
  wait_for_all();
  for (Session& session : sessions_) static_cast<void>(session.end());
}

/// Waits for as long as the history grows: the machine may be slow, but no lock may hang.
void Crowd::wait_for_all() {
  std::uintmax_t bytes = 0;
  Deadline deadline{patience};
  while (!std::ranges::all_of(sessions_, &Session::has_ended)) {
    std::error_code not_there_yet;
    const std::uintmax_t now = std::filesystem::file_size(file("history"), not_there_yet);
    if (!not_there_yet && now != bytes) {
      bytes = now;
      deadline = Deadline{patience};
    }
    if (deadline.passed())
      throw std::runtime_error{"no turn was taken for a long time; bytes of history: " +
                               std::to_string(bytes)};
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

demo::Verdict Crowd::history() const {
  std::ifstream history{file("history")};
  return demo::judge(history);
}

}  // namespace custodian::tests
