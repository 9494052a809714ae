#include "session/renewal.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "support/catch.hpp"
#include "support/directory.hpp"

namespace custodian::tests::renewal_test {
namespace {

using namespace std::chrono_literals;
using detail::FileState;
using detail::FileStates;
using detail::Renewal;
using detail::states_of;

constexpr Renewal::Time start{1h};

FileStates at(int version) { return {{"ca.pem", {.size = version}}}; }

TEST_CASE("files that have not changed are not read again") {
  Renewal renewal{at(1)};
  CHECK_FALSE(renewal.is_due(at(1), start));
  CHECK(renewal.is_due(at(2), start));
  renewal.succeeded(at(2));
  CHECK_FALSE(renewal.is_due(at(2), start));
  CHECK(renewal.is_due(at(1), start));
}

TEST_CASE("files that cannot be used are tried again, once a second, or when they change again") {
  Renewal renewal{at(1)};
  static_cast<void>(renewal.failed(at(2), "it is empty", start));
  CHECK_FALSE(renewal.is_due(at(2), start));
  CHECK_FALSE(renewal.is_due(at(2), start + 999ms));
  CHECK(renewal.is_due(at(2), start + 1s));
  CHECK(renewal.is_due(at(3), start));
  static_cast<void>(renewal.failed(at(2), "it is empty", start + 1s));
  CHECK_FALSE(renewal.is_due(at(2), start + 1999ms));
  CHECK(renewal.is_due(at(2), start + 2s));
  // The files are again those in use.
  CHECK_FALSE(renewal.is_due(at(1), start + 2s));
}

TEST_CASE("a failure is news if the files are others, or the reason is another one") {
  Renewal renewal{at(1)};
  CHECK(renewal.failed(at(2), "it is empty", start));
  CHECK_FALSE(renewal.failed(at(2), "it is empty", start + 1s));
  CHECK(renewal.failed(at(2), "the password is wrong", start + 2s));
  CHECK(renewal.failed(at(3), "the password is wrong", start + 3s));
  renewal.succeeded(at(4));
  CHECK(renewal.failed(at(3), "the password is wrong", start + 4s));
}

TEST_CASE("a file's state shows each change: contents, another file in its place, mode, and end") {
  const Directory directory;
  const std::string file = directory.with("ca.pem", "one");
  const auto state = [&] { return states_of({file}).at(file); };
  const FileState first = state();
  CHECK(first == state());
  CHECK(first.size == 3);

  // A tool may restore the modification time.
  const auto time = std::filesystem::last_write_time(file);
  static_cast<void>(directory.with("ca.pem", "three"));
  std::filesystem::last_write_time(file, time);
  const FileState longer = state();
  CHECK(longer != first);
  CHECK(longer.modified == first.modified);

  std::filesystem::rename(directory.with("new.pem", "seven"), file);
  const FileState renamed = state();
  CHECK(renamed != longer);
  CHECK(renamed.inode != longer.inode);

  // A change of mode shows in `changed` alone. The change is repeated, since the file system's
  // clock is coarse.
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  FileState forbidden = renamed;
  while (forbidden == renamed && std::chrono::steady_clock::now() < deadline) {
    REQUIRE(::chmod(file.c_str(), 0) == 0);
    forbidden = state();
  }
  CHECK(forbidden.changed > renamed.changed);

  std::filesystem::remove(file);
  CHECK(state() == FileState{});
}

TEST_CASE("a directory's state shows that a file has come") {
  const Directory directory;
  const std::vector<std::string> path{directory.path().string()};
  const FileStates before = states_of(path);
  // The change is repeated, since the file system's clock is coarse.
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  for (int number = 0; states_of(path) == before; ++number) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    static_cast<void>(directory.with(std::to_string(number), ""));
  }
}

}  // namespace
}  // namespace custodian::tests::renewal_test
