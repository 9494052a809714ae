#pragma once

/// \file
/// Parts of tests that run in a child of a fork.

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>

namespace custodian::tests {

/// A child ends after this many seconds: a mutex that nobody unlocks must not block the child for
/// ever.
inline constexpr unsigned longest_child = 100;

/// Returns whether the function returns true in a forked child. Asserts nothing, since this process
/// may be a child itself.
template <typename Function>
[[nodiscard]] bool in_child(const Function& function) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(longest_child);
    bool holds = false;
    try {
      holds = function();
    } catch (const std::exception&) {
      holds = false;
    }
    ::_exit(holds ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

/// Calls `use` in a forked child, and returns the text that `use` returns there; another text if
/// `use` throws, or if the child dies before. `in_parent` is called in this process after the fork.
[[nodiscard]] inline std::string text_of_child(const std::function<std::string()>& use,
                                               const std::function<void()>& in_parent = {}) {
  constexpr std::string_view last = "\nend";
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(longest_child);
    std::string text;
    try {
      text = use().append(last);
    } catch (const std::exception& thrown) {
      text = thrown.what();
    }
    const auto size = static_cast<ssize_t>(text.size());
    ::_exit(::write(ends[1], text.data(), text.size()) == size ? 0 : 1);
  }
  if (in_parent) in_parent();
  ::close(ends[1]);
  std::string text;
  std::array<char, 1000> part{};
  for (ssize_t size = 0; (size = ::read(ends[0], part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(size));
  }
  ::close(ends[0]);
  int status = -1;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return "no child";
  if (status != 0 || !text.ends_with(last)) return text + ": the child has not come to its end";
  text.resize(text.size() - last.size());
  return text;
}

}  // namespace custodian::tests
