#include "party_commands.hpp"

#include "attendance.hpp"

namespace custodian::tests {

namespace {

[[noreturn]] void attend(const Client& client, const std::string& path, int members,
                         const std::string& file) {
  const Diary diary{file};
  DistributedDoubleBarrier barrier{client, path, members, Late::waits};
  for (;;) {
    diary.note("comes");
    barrier.enter();
    diary.note("in");
    diary.note("leaves");
    barrier.leave();
    diary.note("out");
  }
}

}  // namespace

void PartyCommands::obey(const Client& client, const std::string& what, std::istream& words) {
  std::string path;
  int members = 0;
  words >> path >> members;
  if (what == "attend") {
    std::string file;
    words >> file;
    attend(client, path, members, file);
  }
  auto barrier = barriers_.find(path);
  if (barrier == barriers_.end()) {
    barrier = barriers_.emplace(path, DistributedDoubleBarrier{client, path, members}).first;
  }
  if (what == "enter") return barrier->second.enter();
  barrier->second.leave();
}

}  // namespace custodian::tests
