#include "run/waiting_messages.hpp"

#include <string>
#include <utility>

#include "options/messages.hpp"
#include "text/printable_text.hpp"

namespace custodian::cli {

AcquireOptions with_messages(int verbosity,
                             std::function<void(const std::string& position)> follower) {
  AcquireOptions options;
  if (verbosity > 0 || follower) {
    options.on_position = [verbosity, follower = std::move(follower)](std::size_t ahead,
                                                                      const Participant& nearest) {
      const std::string position =
          std::to_string(ahead) + " ahead; the nearest is " + printable(nearest.identity);
      if (verbosity > 0) say("waiting, " + position);
      if (follower) follower(position);
    };
  }
  options.on_requeued = [] { say("the session was lost: waiting again, at the end"); };
  return options;
}

}  // namespace custodian::cli
