#include "servers/server_answers.hpp"

#include "servers/server_words.hpp"
#include "support/catch.hpp"

namespace custodian::tests::server_answers_test {
namespace {

using namespace cli;
using namespace std::chrono_literals;

TEST_CASE("srvr tells version and mode") {
  const auto report = parse_srvr(
      "Zookeeper version: 3.8.0-5a02a05eddb59aee6ac762f7ea82e92a68eb9c0f, built on 2022-02-25\n"
      "Latency min/avg/max: 0/0.8/11\nReceived: 26\nMode: follower\nNode count: 5\n");
  REQUIRE(report);
  CHECK(report->version == "3.8.0");
  CHECK(report->mode == "follower");
  CHECK_FALSE(parse_srvr("HTTP/1.1 400 Bad Request\r\n"));
  CHECK_FALSE(parse_srvr(""));
}

TEST_CASE("a server without a quorum is told from one that serves") {
  CHECK(is_not_serving("This ZooKeeper instance is not currently serving requests\n"));
  CHECK_FALSE(is_not_serving("Mode: leader\n"));
}

TEST_CASE("conf and the admin server's configuration tell tick and limits") {
  const ServerConfiguration told = parse_conf(
      "clientPort=2181\ntickTime=2000\nmaxClientCnxns=60\nminSessionTimeout=4000\n"
      "maxSessionTimeout=40000\nserverId=0\n");
  CHECK(told.tick_time == 2000ms);
  CHECK(told.min_session_timeout == 4000ms);
  CHECK(told.max_session_timeout == 40'000ms);
  const ServerConfiguration by_http = parse_configuration(
      R"({"tick_time": 500, "min_session_timeout": 1000, "max_session_timeout": 60000})");
  CHECK(by_http.tick_time == 500ms);
  CHECK(by_http.max_session_timeout == 60'000ms);
  CHECK_FALSE(parse_conf("tickTime=soon\n").tick_time);
  CHECK_FALSE(parse_configuration("<html>").tick_time);
  CHECK_FALSE(parse_configuration(R"({"tick_time": "soon"})").tick_time);
}

TEST_CASE("cons tells where sessions come from, and what has none is passed over") {
  const Addresses addresses = parse_cons(
      " /127.0.0.1:51234[1](queued=0,recved=5,sent=5,sid=0x100000abc,lop=PING,est=17,to=10000)\n"
      " /0:0:0:0:0:0:0:1:51235[1](queued=0,recved=5,sent=5,sid=0xf00000000000abcd,lop=NA)\n"
      " /[fe80:0:0:0:0:0:0:1%eth0]:9[1](queued=0,recved=5,sent=5,sid=0x7,lop=NA)\n"
      " host/10.0.0.1:4[0](queued=0,recved=1,sent=0,sid=0x8)\n"
      " /127.0.0.1:51236[0](queued=0,recved=1,sent=0)\n"
      "\n");
  CHECK(addresses ==
        Addresses{{0x100000abc, "127.0.0.1:51234"},
                  {static_cast<std::int64_t>(0xf00000000000abcdU), "0:0:0:0:0:0:0:1:51235"},
                  {7, "[fe80:0:0:0:0:0:0:1%eth0]:9"},
                  {8, "10.0.0.1:4"}});
  CHECK(parse_cons("cons is not executed because it is not in the whitelist.\n").empty());
}

TEST_CASE("the admin server's connections tell the same") {
  const Addresses addresses = parse_connections(
      R"({"connections": [{"remote_socket_address": "/127.0.0.1:5", "session_id": 72057594037927936},
                          {"remote_socket_address": "127.0.0.1:6", "session_id": -2},
                          {"remote_socket_address": "127.0.0.1:7"}, 8],
          "secure_connections": [{"remote_socket_address": "10.0.0.9:7", "session_id": 3}],
          "command": "connections", "error": null})");
  CHECK(addresses ==
        Addresses{{72057594037927936, "127.0.0.1:5"}, {-2, "127.0.0.1:6"}, {3, "10.0.0.9:7"}});
  CHECK(parse_connections("[]").empty());
  CHECK(parse_connections("{").empty());
}

TEST_CASE("the servers of a connection string are each asked, at 2181 if nothing is said") {
  CHECK(servers_of(" zk1 , zk2:2182,[::1]:2183,zk1/app") ==
        std::vector<ServerAddress>{{"zk1", 2181}, {"zk2", 2182}, {"::1", 2183}});
  // Vertical tabs and form feeds count as white space, too.
  CHECK(servers_of("\vzk1\f,\tzk2\r\n") ==
        std::vector<ServerAddress>{{"zk1", 2181}, {"zk2", 2181}});
  CHECK(chroot_of("zk1/app\v\f") == "/app");
  CHECK(to_string(ServerAddress{"::1", 2183}) == "[::1]:2183");
  CHECK(chroot_of("zk1,zk2:2182/app/one") == "/app/one");
  CHECK(chroot_of("zk1/").empty());
  CHECK(chroot_of("zk1").empty());
  CHECK(servers_of(" secure://zk1,zk2/app") ==
        std::vector<ServerAddress>{{"zk1", 2181}, {"zk2", 2181}});
  CHECK(chroot_of("secure://zk1,zk2/app") == "/app");
  CHECK(chroot_of("secure://zk1").empty());
  CHECK(is_secure(" secure://zk1"));
  CHECK_FALSE(is_secure("zk1"));
}

TEST_CASE("of HTTP only the body of a success is an answer") {
  const Answer answer = body_of_http("HTTP/1.1 200 OK\r\nA: b\r\n\r\n{}");
  REQUIRE(answer);
  CHECK(answer.text == "{}");
  CHECK_FALSE(body_of_http("HTTP/1.1 404 Not Found\r\n\r\n{}"));
  CHECK_FALSE(body_of_http("HTTP/1.1 200 OK\r\n"));
  CHECK_FALSE(body_of_http("Mode: leader"));
}

}  // namespace
}  // namespace custodian::tests::server_answers_test
