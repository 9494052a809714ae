#include "serve/shared_answers.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <utility>

#include "text/printable_text.hpp"

namespace asio = boost::asio;

namespace custodian::cli {

SharedAnswers::SharedAnswers(asio::io_context& context, std::chrono::nanoseconds life,
                             std::size_t threads)
    : context_{context}, life_{life}, workers_{threads} {}

SharedAnswers::~SharedAnswers() { join(); }

bool SharedAnswers::is_recent(const Answer& answer) const {
  return !answer.response || std::chrono::steady_clock::now() - answer.at < life_;
}

asio::awaitable<HttpResponse> SharedAnswers::ask(std::string question, Work work) {
  const auto known = answers_.find(question);
  AnswerPtr answer = known == answers_.end() ? nullptr : known->second;
  if (!answer || !is_recent(*answer)) {
    std::erase_if(answers_, [this](const auto& each) { return !is_recent(*each.second); });
    if (answers_.size() >= most) co_return refusal_of(503, "too much is asked at once");
    answer = std::make_shared<Answer>(context_);
    answers_[question] = answer;
    begin(answer, std::move(work));
  }
  while (!answer->response) {
    if (is_stopping_) co_return refusal_of(503, "this server ends");
    co_await answer->changed.async_wait(asio::as_tuple(asio::use_awaitable));
  }
  co_return *answer->response;
}

void SharedAnswers::begin(const AnswerPtr& answer, Work work) {
  ++working_;
  asio::post(workers_,
             [this, answer, work = std::move(work), guard = asio::make_work_guard(context_)] {
               HttpResponse response;
               try {
                 response = work();
               } catch (const std::exception& error) {
                 response = refusal_of(503, printable(error.what()));
               }
               asio::post(context_, [this, answer, response = std::move(response)]() mutable {
                 --working_;
                 answer->response = std::move(response);
                 answer->at = std::chrono::steady_clock::now();
                 answer->changed.cancel();
               });
             });
}

void SharedAnswers::join() {
  workers_.stop();
  workers_.join();
}

void SharedAnswers::stop() {
  is_stopping_ = true;
  for (auto& [question, answer] : answers_) answer->changed.cancel();
}

}  // namespace custodian::cli
