#include "client/waiting_session.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace custodian::detail {

WaitingSession::WaitingSession(boost::asio::any_io_executor strand) : strand_{std::move(strand)} {}

void WaitingSession::submit(Request, ReplyHandler handler) {
  boost::asio::post(strand_, [handler = std::move(handler)]() mutable {
    Reply reply;
    reply.error = Errc::not_connected;
    std::move(handler)(std::move(reply));
  });
}

void WaitingSession::close(std::chrono::milliseconds, std::function<void()> done) {
  if (done) boost::asio::post(strand_, std::move(done));
}

}  // namespace custodian::detail
