#include "session/descriptor.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <string>

#include "custodian/error.hpp"
#include "support/catch.hpp"
#include "unit/closed_input.hpp"
#include "unit/session/few_descriptors.hpp"

namespace custodian::tests::descriptor_test {
namespace {

namespace asio = boost::asio;

TEST_CASE("a descriptor has room until the kernel takes no more, and when the peer has read") {
  asio::io_context context;
  asio::local::stream_protocol::socket ours{context};
  asio::local::stream_protocol::socket theirs{context};
  asio::local::connect_pair(ours, theirs);
  ours.non_blocking(true);
  detail::Descriptor descriptor{context.get_executor()};
  REQUIRE(descriptor.follow(ours.native_handle()));
  CHECK(descriptor.has_room());
  const std::string much(std::size_t{64} << 10U, 'x');
  error_code full;
  while (!full) ours.write_some(asio::buffer(much), full);
  CHECK_FALSE(descriptor.has_room());
  theirs.non_blocking(true);
  std::string read(much.size(), '\0');
  error_code empty;
  while (!empty) theirs.read_some(asio::buffer(read), empty);
  CHECK(descriptor.has_room());
}

TEST_CASE("a descriptor has what was left unread when the library's socket is closed") {
  asio::io_context context;
  asio::local::stream_protocol::socket ours{context};
  asio::local::stream_protocol::socket theirs{context};
  asio::local::connect_pair(ours, theirs);
  detail::Descriptor descriptor{context.get_executor()};
  REQUIRE(descriptor.follow(ours.native_handle()));
  CHECK(descriptor.unread().empty());
  // The request that the peer leaves unread resets the connection, after the peer's last words.
  asio::write(ours, asio::buffer(std::string{"a request"}));
  asio::write(theirs, asio::buffer(std::string{"last words"}));
  theirs.close();
  ours.close();
  CHECK(descriptor.unread() == "last words");
  CHECK(descriptor.unread().empty());
  descriptor.release();
  CHECK(descriptor.unread().empty());
}

TEST_CASE("a descriptor is not followed while the process has none for it, and is later") {
  asio::io_context context;
  asio::local::stream_protocol::socket ours{context};
  asio::local::stream_protocol::socket theirs{context};
  asio::local::connect_pair(ours, theirs);
  detail::Descriptor descriptor{context.get_executor()};
  {
    const FewDescriptors none{0};
    CHECK_FALSE(descriptor.follow(ours.native_handle()));
    CHECK_FALSE(descriptor.is_open());
  }
  CHECK(descriptor.follow(ours.native_handle()));
  CHECK(descriptor.is_open());
}

TEST_CASE("a descriptor of a process without standard input may be 0") {
  asio::io_context context;
  asio::local::stream_protocol::socket ours{context};
  asio::local::stream_protocol::socket theirs{context};
  asio::local::connect_pair(ours, theirs);
  detail::Descriptor descriptor{context.get_executor()};
  const ClosedInput closed;
  CHECK(descriptor.follow(ours.native_handle()));
  CHECK(descriptor.is_open());
  descriptor.release();
}

}  // namespace
}  // namespace custodian::tests::descriptor_test
