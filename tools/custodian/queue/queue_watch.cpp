#include "queue/queue_watch.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/error.hpp>
#include <exception>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "custodian/client.hpp"
#include "custodian/lease/revocation.hpp"
#include "options/exit_status.hpp"
#include "queue/following.hpp"
#include "queue/known_identities.hpp"
#include "queue/looking.hpp"
#include "queue/recipe_view.hpp"
#include "text/printable_text.hpp"
#include "text/screen.hpp"
#include "text/time_text.hpp"

namespace custodian::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::system_clock;

/// The most holders whose data is watched: each costs a watch on the servers.
constexpr std::size_t most_watched_holders = 100;
/// The shortest pause between two readings of a queue that changes all the time.
constexpr auto shortest_pause = 100ms;

/// A view of the queue, and the watches that report the next change.
struct Picture {
  QueueView view;
  std::vector<Watch> watches;
};

/// Watches the list of a node's children, or the creation of the node. Returns the children's
/// names.
std::vector<std::string> watch_children(Client& client, const std::string& path,
                                        std::vector<Watch>& watches) {
  for (;;) {
    try {
      auto [children, watch] = client.children_and_watch(path);
      watches.push_back(std::move(watch));
      return std::move(children.names);
    } catch (const Error& error) {
      if (error.code() != ServerErrc::no_node) throw;
    }
    auto [stat, watch] = client.exists_and_watch(path);
    if (stat) continue;  // it was created meanwhile
    watches.push_back(std::move(watch));
    return {};
  }
}

/// Watches the holders' nodes, since a request to release is written into them.
void watch_holders(Client& client, Inspection& seen, std::vector<Watch>& watches) {
  std::size_t watched = 0;
  for (Inspected& each : seen.contenders) {
    if (each.standing == Standing::waits || watched == most_watched_holders) continue;
    try {
      auto [now, watch] = client.get_and_watch(each.participant.node);
      each.is_asked_to_release = is_asked(now);
      if (now.data == revoke_message) now.data.clear();
      each.participant.identity = std::move(now.data);
      watches.push_back(std::move(watch));
      ++watched;
    } catch (const Error& error) {
      // The node is gone, which the watch on the list of children reports.
      if (error.code() != ServerErrc::no_node) throw;
    }
  }
}

std::vector<std::int64_t> sessions_of(const Inspection& inspection) {
  std::vector<std::int64_t> sessions;
  for (const Inspected& each : inspection.contenders) {
    if (each.participant.session != 0) sessions.push_back(each.participant.session);
  }
  const std::vector<std::int64_t> others = sessions_in(inspection.recipe);
  sessions.insert(sessions.end(), others.begin(), others.end());
  return sessions;
}

Picture take_picture(Client& client, const InspectRequest& request, KnownIdentities& identities,
                     SessionAddresses* addresses) {
  Picture picture;
  const std::string below = request.path == "/" ? "/" : request.path + '/';
  const std::vector<std::string> names = watch_children(client, request.path, picture.watches);
  // A change of a value (an atomic, a count) changes the node's data, and no child.
  picture.watches.push_back(std::move(client.exists_and_watch(request.path).second));
  for (const char* part : {"leases", "locks"}) {
    if (std::ranges::find(names, part) != names.end()) {
      watch_children(client, below + part, picture.watches);
    }
  }
  Inspection seen = inspect(client, request.path, request.options);
  watch_holders(client, seen, picture.watches);
  identities.complete(seen);
  picture.view = view_of(request, std::move(seen), addresses);
  return picture;
}

class QueueWatch {
 public:
  QueueWatch(const GlobalOptions& options, const InspectRequest& request)
      : request_{request},
        addresses_{options.servers, request.admin_port, options.client_options().tls},
        on_terminal_{!request.json && Screen::is_terminal()},
        // A log line would shift the picture on the terminal, and the picture itself shows a lost
        // connection.
        client_{
            connect(options, on_terminal_ && options.verbosity == 0 ? Log::none : Log::as_asked)},
        listening_{client_.on_connection_state([this](ConnectionState) { following_.wake(); })} {}

  ~QueueWatch() {
    // Closing the client ends a pending reading, and the watches, at once.
    client_.close();
  }
  QueueWatch(const QueueWatch&) = delete;
  QueueWatch& operator=(const QueueWatch&) = delete;

  int run() {
    look();
    do {
      if (following_.was_resized()) screen_.forget_picture();
      take_look();
      if (shown_) show();
    } while (following_.wait(longest_wait()) && std::cout);
    return to_int(ExitStatus::ok);
  }

 private:
  void look() {
    looked_at_ = std::chrono::steady_clock::now();
    is_stale_ = std::make_shared<std::atomic<bool>>(false);
    std::promise<Picture> promise;
    look_ = promise.get_future();
    looker_ = std::jthread{[this, promise = std::move(promise)]() mutable {
      try {
        promise.set_value(take_picture(client_, request_, identities_, addresses()));
      } catch (...) {
        promise.set_exception(std::current_exception());
      }
      following_.wake();
    }};
  }

  /// Takes the finished reading, and reads again if the queue has changed meanwhile.
  void take_look() {
    if (look_.valid() && look_.wait_for(0s) == std::future_status::ready) {
      try {
        picture_ = look_.get();
        shown_ = true;
        if (!request_.without_addresses) {
          ask_at_ = addresses_.next_question(sessions_of(picture_.view.inspection));
        }
        for (Watch& watch : picture_.watches) {
          watch.async_wait([this, stale = is_stale_](error_code error, WatchEventType) {
            if (error == boost::asio::error::operation_aborted) return;
            *stale = true;
            following_.wake();
          });
        }
      } catch (const Error& error) {
        const bool will_pass = error.code() == ErrorCondition::retryable ||
                               error.code() == ErrorCondition::outcome_unknown ||
                               error.code() == ErrorCondition::session_over ||
                               error.code() == Errc::deadline_exceeded;
        if (!shown_ || !will_pass) throw;
        *is_stale_ = true;
      }
    }
    const bool again = !look_.valid() && (*is_stale_ || until_question() <= 0ms);
    if (!again) return;
    const auto rest = shortest_pause - (std::chrono::steady_clock::now() - looked_at_);
    if (rest > 0ms) std::this_thread::sleep_for(rest);
    look();
  }

  /// The time until the servers are asked for addresses again: a new contender has none yet.
  [[nodiscard]] milliseconds until_question() const {
    if (!ask_at_ || !is_connected(client_.connection_state())) return milliseconds::max();
    return std::chrono::ceil<milliseconds>(*ask_at_ - std::chrono::steady_clock::now());
  }

  [[nodiscard]] milliseconds longest_wait() const {
    // On a terminal the ages are redrawn as they grow; other outputs show only changes.
    const milliseconds usual = on_terminal_ ? 1s : 10s;
    return look_.valid() ? usual : std::clamp(until_question(), 0ms, usual);
  }

  void show() {
    const bool connected = is_connected(client_.connection_state());
    if (connected || was_connected_) as_of_ = system_clock::now();
    was_connected_ = connected;
    Json now = json_of(picture_.view);
    now["connected"] = connected;
    if (on_terminal_) {
      screen_.draw(block(connected));
    } else if (now != printed_) {
      printed_ = now;
      print(std::move(now), connected);
    }
  }

  void print(Json now, bool connected) {
    if (request_.json) {
      now["as_of"] = iso_time(as_of_);
      std::cout << to_line(now) << '\n';
    } else {
      if (!std::exchange(is_first_, false)) std::cout << '\n';
      for (const std::string& line : block(connected)) std::cout << line << '\n';
    }
    std::cout << std::flush;
  }

  [[nodiscard]] std::vector<std::string> block(bool connected) const {
    const auto now = system_clock::now();
    std::string head = printable(request_.path) + "  " + plain_time(now);
    if (!connected) {
      head += "  disconnected, as of " + age_text(now - as_of_) + " ago";
    }
    std::vector<std::string> lines = lines_of(picture_.view, now);
    lines.insert(lines.begin(), std::move(head));
    return lines;
  }

  [[nodiscard]] SessionAddresses* addresses() {
    return request_.without_addresses ? nullptr : &addresses_;
  }

  const InspectRequest& request_;
  KnownIdentities identities_;  ///< used by the thread that reads the queue
  SessionAddresses addresses_;
  Following following_;
  const bool on_terminal_;
  Client client_;
  Subscription listening_;
  Screen screen_;
  Picture picture_;
  std::future<Picture> look_;
  std::chrono::steady_clock::time_point looked_at_;
  std::optional<std::chrono::steady_clock::time_point> ask_at_;
  std::shared_ptr<std::atomic<bool>> is_stale_;
  std::jthread looker_;
  Json printed_;
  system_clock::time_point as_of_;
  bool was_connected_ = false;
  bool shown_ = false;
  bool is_first_ = true;
};

}  // namespace

QueueView view_of(const InspectRequest& request, Inspection inspection,
                  SessionAddresses* addresses) {
  QueueView view{.path = request.path, .inspection = std::move(inspection)};
  if (addresses != nullptr) {
    const std::vector<std::int64_t> sessions = sessions_of(view.inspection);
    const Addresses& known = addresses->of(sessions);
    view.addresses.emplace();
    for (const std::int64_t session : sessions) {
      const auto address = known.find(session);
      if (address != known.end()) view.addresses->insert(*address);
    }
  }
  view.at = system_clock::now();
  return view;
}

int watch_queue(const GlobalOptions& options, const InspectRequest& request) {
  return QueueWatch{options, request}.run();
}

}  // namespace custodian::cli
