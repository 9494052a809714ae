#include "instance.hpp"

#include <utility>

namespace custodian::tests::scheduler {

Instance::Instance(std::string place, const testing::ServerEndpoint& server)
    : place_{std::move(place)}, line_{server} {}

void Instance::start(const std::vector<std::string>& arguments) {
  name_ = place_ + "." + std::to_string(++incarnations_);
  // If this process is gone, the kernel ends the instance, even one that is stopped.
  std::vector<std::string> words{
      "--pdeathsig", "KILL",      CUSTODIAN_EXAMPLE_JOB_SCHEDULER, "--id",
      name_,         "--servers", line_.connect_string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  process_ = std::make_unique<testing::ChildProcess>(CUSTODIAN_SETPRIV, words);
}

}  // namespace custodian::tests::scheduler
