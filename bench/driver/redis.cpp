/// \file
/// Redis' contestants: custodian-bench-redis plain|fair HOST:PORT.
///
/// plain  SET key token NX PX; a Lua script deletes the key if the token is still ours. A contender
///        that finds the key taken asks again after a random pause of up to a millisecond.
/// fair   like Redisson's fair lock: a Lua script puts waiters into a list, and removes those at
///        its head that were silent for too long; the release notifies the head of the list by
///        publish, for which each thread has a second connection.
///
/// Each thread has its own connection. Nothing extends the lock's time: every hold here is shorter.

#include <hiredis/hiredis.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <memory>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "driver.hpp"

namespace custodian::bench {
namespace {

using Reply = std::unique_ptr<redisReply, decltype(&::freeReplyObject)>;

constexpr long time_to_live_ms = 30'000;

Reply checked(const redisContext& connection, void* reply) {
  Reply result{static_cast<redisReply*>(reply), &::freeReplyObject};
  if (!result) throw std::runtime_error{std::string{"Redis: "} + connection.errstr};
  if (result->type == REDIS_REPLY_ERROR)
    throw std::runtime_error{std::string{"Redis: "} + result->str};
  return result;
}

class Connection {
 public:
  explicit Connection(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    context_.reset(
        ::redisConnect(address.substr(0, colon).c_str(), std::stoi(address.substr(colon + 1))));
    if (!context_ || context_->err != 0) throw std::runtime_error{"Redis: cannot connect"};
  }

  Reply ask(const std::vector<std::string>& words) {
    std::vector<const char*> pointers;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      pointers.push_back(word.data());
      sizes.push_back(word.size());
    }
    return checked(*context_, ::redisCommandArgv(context_.get(), static_cast<int>(words.size()),
                                                 pointers.data(), sizes.data()));
  }
  /// Waits for the next message on a channel.
  void listen() {
    void* reply = nullptr;
    if (::redisGetReply(context_.get(), &reply) != REDIS_OK)
      throw std::runtime_error{std::string{"Redis: "} + context_->errstr};
    static_cast<void>(checked(*context_, reply));
  }

 private:
  std::unique_ptr<redisContext, decltype(&::redisFree)> context_{nullptr, &::redisFree};
};

/// A Lua script that is loaded once, and then called by its hash.
class Script {
 public:
  Script(Connection& connection, const std::string& text)
      : connection_{&connection}, hash_{connection.ask({"SCRIPT", "LOAD", text})->str} {}

  long long run(const std::vector<std::string>& keys, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{"EVALSHA", hash_, std::to_string(keys.size())};
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(), arguments.begin(), arguments.end());
    return connection_->ask(words)->integer;
  }

 private:
  Connection* connection_;
  const std::string hash_;
};

class Plain final : public Locker {
 public:
  Plain(const std::string& address, std::string key, std::string token)
      : connection_{address},
        remove_{connection_,
                "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) "
                "else return 0 end"},
        key_{std::move(key)},
        token_{std::move(token)} {}

  void lock() override {
    const std::string time = std::to_string(time_to_live_ms);
    while (connection_.ask({"SET", key_, token_, "NX", "PX", time})->type == REDIS_REPLY_NIL) {
      std::this_thread::sleep_for(std::chrono::microseconds{pause_(random_)});
    }
  }
  void unlock() override {
    if (remove_.run({key_}, {token_}) != 1) throw std::runtime_error{"Redis: the lock was lost"};
  }

 private:
  Connection connection_;
  Script remove_;
  const std::string key_;
  const std::string token_;
  std::minstd_rand random_{std::random_device{}()};
  std::uniform_int_distribution<int> pause_{0, 1000};
};

/// Returns 1 if this contender got the lock, and otherwise puts it into the list of waiters.
constexpr auto fair_acquire = R"(
local lock, queue, seen = KEYS[1], KEYS[2], KEYS[3]
local me, ttl, now, patience = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
while true do
  local head = redis.call('lindex', queue, 0)
  if not head or head == me then break end
  local at = redis.call('zscore', seen, head)
  if at and tonumber(at) + patience > now then break end
  redis.call('lpop', queue)
  redis.call('zrem', seen, head)
end
local head = redis.call('lindex', queue, 0)
if redis.call('exists', lock) == 0 and (not head or head == me) then
  if head then redis.call('lpop', queue) end
  redis.call('zrem', seen, me)
  redis.call('set', lock, me, 'px', ttl)
  return 1
end
if not redis.call('zscore', seen, me) then redis.call('rpush', queue, me) end
redis.call('zadd', seen, now, me)
return 0)";

constexpr auto fair_release = R"(
if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('del', KEYS[1])
local head = redis.call('lindex', KEYS[2], 0)
if head then redis.call('publish', KEYS[1] .. ':' .. head, '') end
return 1)";

class Fair final : public Locker {
 public:
  Fair(const std::string& address, const std::string& key, std::string token)
      : connection_{address},
        told_{address},
        acquire_{connection_, fair_acquire},
        release_{connection_, fair_release},
        keys_{key, key + ":queue", key + ":seen"},
        token_{std::move(token)} {
    static_cast<void>(told_.ask({"SUBSCRIBE", key + ":" + token_}));
  }

  void lock() override {
    while (acquire_.run(keys_, {token_, std::to_string(time_to_live_ms), now(), "60000"}) == 0) {
      told_.listen();
    }
  }
  void unlock() override {
    if (release_.run(keys_, {token_}) != 1) throw std::runtime_error{"Redis: the lock was lost"};
  }

 private:
  static std::string now() {
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(
                              std::chrono::system_clock::now().time_since_epoch())
                              .count());
  }

  Connection connection_;
  Connection told_;
  Script acquire_;
  Script release_;
  const std::vector<std::string> keys_;
  const std::string token_;
};

class Redis final : public Contestant {
 public:
  Redis(bool fair, std::string address) : fair_{fair}, address_{std::move(address)} {}

  std::unique_ptr<Locker> locker(const Task& task, int index) override {
    const std::string token = std::to_string(::getpid()) + "-" + std::to_string(index);
    if (fair_) return std::make_unique<Fair>(address_, task.path, token);
    return std::make_unique<Plain>(address_, task.path, token);
  }

 private:
  const bool fair_;
  const std::string address_;
};

}  // namespace
}  // namespace custodian::bench

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  custodian::bench::Redis contestant{std::string_view{argv[1]} == "fair", argv[2]};
  return custodian::bench::serve(contestant);
}
