#include "atomics/value_line.hpp"

#include <boost/asio/error.hpp>
#include <string>
#include <utility>

#include "async/shared_by_key.hpp"
#include "custodian/authoring/service.hpp"

namespace custodian::recipes_detail {

namespace asio = boost::asio;

namespace {

/// All lines of a client.
class ValueLines final : public Service {
 public:
  explicit ValueLines(const asio::any_io_executor&) {}

  ValueLinePtr line(const std::string& path) {
    return lines_.find_or_make(path, [] { return std::make_shared<ValueLine>(); });
  }

 private:
  SharedByKey<std::string, ValueLine> lines_;
};

}  // namespace

ValueLinePtr ValueLine::of(const Client& client, const std::string& path) {
  return client.share().use_service<ValueLines>().line(path);
}

ValueLine::Place::Place(ValueLine& line)
    : line_{line}, place_{line.places_.insert(line.places_.end(), this)} {
  // An update that comes now would overtake this place if it joined a batch in front.
  line.joinable.reset();
}

ValueLine::Place::~Place() {
  line_.places_.erase(place_);
  if (!line_.places_.empty()) line_.places_.front()->moved_up_.notify_all();
}

asio::awaitable<error_code> ValueLine::Place::wait_for_turn(asio::any_io_executor strand,
                                                            Deadline until,
                                                            CancellationPtr cancellation) {
  while (!is_first()) {
    if (cancellation && cancellation->requested()) co_return asio::error::operation_aborted;
    if (until.passed()) co_return Errc::deadline_exceeded;
    co_await moved_up_.wait(strand, until, cancellation);
  }
  co_return error_code{};
}

}  // namespace custodian::recipes_detail
