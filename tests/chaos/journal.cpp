#include "journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace custodian::chaos {

Journal::Journal(const std::filesystem::path& file)
    : descriptor_{::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)} {
  if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), file.string()};
}

Journal::~Journal() { ::close(descriptor_); }

void Journal::note(BootClock::time_point at, std::string_view what) const {
  std::string line = std::to_string(at.time_since_epoch().count());
  line.append(1, ' ').append(what).append(1, '\n');
  if (::write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::system_error{errno, std::generic_category(), "a line of history"};
}

}  // namespace custodian::chaos
