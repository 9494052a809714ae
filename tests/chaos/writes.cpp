#include "writes.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace asio = boost::asio;

namespace custodian::chaos {
namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

}  // namespace

std::string guarded_register(const std::string& root, const std::string& lock) {
  return root + "/guarded-" + lock;
}

std::string bare_register(const std::string& root, const std::string& lock) {
  return root + "/bare-" + lock;
}

Writes::Writes(Client client, std::string root, std::shared_ptr<const Journal> journal,
               std::shared_ptr<Attempts> attempts, asio::ip::tcp::socket fenced_register,
               std::chrono::milliseconds limit)
    : client_{std::move(client)},
      root_{std::move(root)},
      journal_{std::move(journal)},
      attempts_{std::move(attempts)},
      fenced_register_{std::move(fenced_register)},
      limit_{limit} {}

asio::awaitable<void> Writes::write(HoldPtr hold, std::string lock) {
  // The fenced write comes first, so that the register knows its new holder before anything else.
  co_await write_fenced(hold, lock);
  co_await write_guarded(hold, lock);
  co_await write_bare(hold, lock);
}

asio::awaitable<void> Writes::write_fenced(HoldPtr hold, std::string lock) {
  const std::int64_t attempt = begin("fenced", *hold);
  const std::string request = lock + " " + to_string(hold->lease().token()) + "\n";
  const auto bytes = asio::buffer(request);
  co_await asio::async_write(fenced_register_, bytes, asio::use_awaitable);
  auto buffer = asio::dynamic_buffer(received_);
  const std::size_t size =
      co_await asio::async_read_until(fenced_register_, buffer, '\n', asio::use_awaitable);
  const std::string answer = received_.substr(0, size - 1);
  received_.erase(0, size);
  journal_->note("wrote " + std::to_string(attempt) + " " + answer + " 0");
}

asio::awaitable<void> Writes::write_guarded(HoldPtr hold, std::string lock) {
  const std::int64_t attempt = begin("guarded", *hold);
  Transaction transaction{hold->lease().check(),
                          set(guarded_register(root_, lock), to_string(hold->lease().token()))};
  const OperationOptions options{.deadline = limit_};
  const auto [error, results] =
      co_await client_.async_commit(std::move(transaction), options, as_result);
  end(attempt, error, error ? 0 : results.at(1).stat.version);
}

asio::awaitable<void> Writes::write_bare(HoldPtr hold, std::string lock) {
  const std::int64_t attempt = begin("bare", *hold);
  std::string path = bare_register(root_, lock);
  std::string data = to_string(hold->lease().token());
  const SetOptions options{.deadline = limit_};
  const auto [error, stat] =
      co_await client_.async_set(std::move(path), std::move(data), options, as_result);
  end(attempt, error, error ? 0 : stat.version);
}

asio::awaitable<void> Writes::read(std::string lock) {
  std::string path = bare_register(root_, lock);
  const OperationOptions options{.deadline = limit_};
  // Only a message to the server is wanted: the outcome does not matter.
  co_await client_.async_exists(std::move(path), options, as_result);
}

std::int64_t Writes::begin(const char* kind, const HoldWatch& hold) {
  const std::int64_t attempt = ++attempts_->last;
  journal_->note("write " + std::to_string(attempt) + " " + kind + " " + std::to_string(hold.id()));
  return attempt;
}

void Writes::end(std::int64_t attempt, error_code error, std::int32_t version) {
  const char* outcome = "unsent";
  if (!error) {
    outcome = "landed";
  } else if (error == ServerErrc::no_node) {
    outcome = "refused";
  } else if (error == ErrorCondition::outcome_unknown || error == Errc::session_lost) {
    outcome = "unknown";
  }
  journal_->note("wrote " + std::to_string(attempt) + " " + outcome + " " +
                 std::to_string(version));
}

}  // namespace custodian::chaos
