#include "acquire/newcomers.hpp"

namespace custodian::recipes_detail {

void Newcomers::add(const std::string& path, std::weak_ptr<NewcomerListener> listener) {
  const auto is_over = [](const auto& weak) { return weak.expired(); };
  Listeners& here = listeners_[path];
  std::erase_if(here, is_over);
  here.push_back(std::move(listener));
  if (listeners_.size() < forget_at_) return;
  for (auto& [at, all] : listeners_) std::erase_if(all, is_over);
  std::erase_if(listeners_, [](const auto& each) { return each.second.empty(); });
  forget_at_ = 2 * listeners_.size() + 16;
}

void Newcomers::tell(const LockSpec& spec, const NewcomerListener* except) {
  auto& listeners = Client{spec.client.share()}.use_service<Newcomers>().listeners_;
  const auto found = listeners.find(spec.path);
  if (found == listeners.end()) return;
  // The loop runs over a copy, because a listener may end other listeners.
  const Listeners all = found->second;
  for (const auto& weak : all) {
    const auto listener = weak.lock();
    if (listener && listener.get() != except) listener->on_newcomer(spec.kind);
  }
}

}  // namespace custodian::recipes_detail
