#include "atomics/update_chain.hpp"

#include <utility>

namespace custodian::recipes_detail {

void UpdateChain::add(Result<std::optional<std::string>> next) {
  const Versioned<std::string>& value = now_;
  Link link;
  link.done.before = value;
  if (!next) {
    link.error = next.error();
  } else if (*next) {
    now_ = Stored{{.value = std::move(**next)}};
    link.done.written = true;
    last_write_ = links_.size();
  }
  link.done.after = value;
  link.done.time = now_.written;
  links_.push_back(std::move(link));
}

std::vector<Result<StoredUpdate>> UpdateChain::results(const Stored& written) const {
  const auto number = [&](Versioned<std::string>& value) {
    value.version = written.version;
    value.mzxid = written.mzxid;
  };
  std::vector<Result<StoredUpdate>> all;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    if (link.error) {
      all.emplace_back(link.error);
      continue;
    }
    StoredUpdate done = link.done;
    // The servers have the value that the last write has left, and none of those in between.
    if (last_write_ && i >= *last_write_) {
      number(done.after);
      done.time = written.written;
    }
    if (last_write_ && i > *last_write_) number(done.before);
    all.emplace_back(std::move(done));
  }
  return all;
}

}  // namespace custodian::recipes_detail
