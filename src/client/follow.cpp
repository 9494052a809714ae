#include "custodian/authoring/follow.hpp"

namespace custodian {

namespace asio = boost::asio;

namespace {

/// Reads with or without a watch, and returns the value with the watch.
template <typename T, auto Start, auto StartAndWatch>
asio::awaitable<Result<Watched<T>>> read(CorePtr core, CancellationPtr cancellation,
                                         std::string path, OperationOptions options,
                                         Watching watching) {
  if (watching == Watching::yes) {
    auto [error, value, watch] =
        co_await await<StartAndWatch, T, Watch>(core, cancellation, path, options);
    if (error) co_return error;
    co_return Watched<T>{std::move(value), std::move(watch)};
  }
  auto [error, value] = co_await await<Start, T>(core, cancellation, path, options);
  if (error) co_return error;
  co_return Watched<T>{std::move(value), Watch{}};
}

asio::awaitable<error_code> until_event(CorePtr core, CancellationPtr cancellation,
                                        std::shared_ptr<detail::ClientWatcher> watcher) {
  const auto [ended, event] =
      co_await await<&start_wait, WatchEventType>(core, cancellation, watcher);
  co_return ended == Errc::session_lost ? error_code{} : ended;
}

}  // namespace

asio::awaitable<Result<Watched<GetResult>>> read_data(CorePtr core, CancellationPtr cancellation,
                                                      std::string path, OperationOptions options,
                                                      Watching watching) {
  return read<GetResult, &start_get, &start_get_and_watch>(std::move(core), std::move(cancellation),
                                                           std::move(path), options, watching);
}

asio::awaitable<Result<Watched<Children>>> read_children(CorePtr core, CancellationPtr cancellation,
                                                         std::string path, OperationOptions options,
                                                         Watching watching) {
  return read<Children, &start_children, &start_children_and_watch>(
      std::move(core), std::move(cancellation), std::move(path), options, watching);
}

asio::awaitable<Result<Watched<std::optional<Stat>>>> read_existence(CorePtr core,
                                                                     CancellationPtr cancellation,
                                                                     std::string path,
                                                                     OperationOptions options,
                                                                     Watching watching) {
  return read<std::optional<Stat>, &start_exists, &start_exists_and_watch>(
      std::move(core), std::move(cancellation), std::move(path), options, watching);
}

asio::awaitable<error_code> until_changed(CorePtr core, CancellationPtr cancellation,
                                          const Watch& watch) {
  return until_event(std::move(core), std::move(cancellation), watch.state());
}

}  // namespace custodian
