#pragma once

/// \file
/// SharedAnswers gives one answer to all that ask the same question, so that the servers are asked
/// once.

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "http/http_message.hpp"

namespace custodian::cli {

/// Threads: the context's, of which there must be one.
class SharedAnswers {
 public:
  /// Called on a thread of the SharedAnswers; may block, and throw.
  using Work = std::function<HttpResponse()>;
  /// The most questions that are remembered, or asked, at once.
  static constexpr std::size_t most = 256;

  /// An answer is given again for as long as `life`. At most `threads` questions are asked at once.
  SharedAnswers(boost::asio::io_context& context, std::chrono::nanoseconds life,
                std::size_t threads);
  SharedAnswers(const SharedAnswers&) = delete;
  SharedAnswers& operator=(const SharedAnswers&) = delete;
  ~SharedAnswers();

  /// The answer to a question: a recent one, or the result of `work`. The answer is 503 if there
  /// are too many questions at once, or if the work throws.
  [[nodiscard]] boost::asio::awaitable<HttpResponse> ask(std::string question, Work work);
  /// Whether work is under way.
  [[nodiscard]] bool is_working() const noexcept { return working_ > 0; }
  /// Answers 503 to all that wait, and from now on to each question without a recent answer.
  void stop();
  /// Drops the work that has not begun, and waits for the end of the work under way.
  void join();

 private:
  struct Answer {
    explicit Answer(boost::asio::io_context& context)
        : changed{context, boost::asio::steady_timer::time_point::max()} {}

    std::optional<HttpResponse> response{};
    std::chrono::steady_clock::time_point at{};
    boost::asio::steady_timer changed;  ///< cancelled when the response is there
  };
  using AnswerPtr = std::shared_ptr<Answer>;

  [[nodiscard]] bool is_recent(const Answer& answer) const;
  void begin(const AnswerPtr& answer, Work work);

  boost::asio::io_context& context_;
  const std::chrono::nanoseconds life_;
  std::map<std::string, AnswerPtr> answers_;
  std::size_t working_ = 0;
  bool is_stopping_ = false;
  boost::asio::thread_pool workers_;
};

}  // namespace custodian::cli
