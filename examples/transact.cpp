// A transfer between two accounts, each in a node of its own.
//
//   custodian-example-transact 127.0.0.1:2181

#include "custodian/atomics/transact.hpp"

#include <iostream>
#include <string>

#include "custodian/client.hpp"

/// The balance of an account; 0 if the account is new.
int balance(custodian::TransactionView& view, const std::string& account) {
  return std::stoi(view.get(account).value_or("0"));
}

void store(custodian::TransactionView& view, const std::string& account, int amount) {
  if (view.get(account)) {
    view.set(account, std::to_string(amount));
  } else {
    view.create(account, std::to_string(amount));
  }
}

/// The function is called again if another process has changed an account meanwhile.
bool transfer(const custodian::Client& client, const std::string& from, const std::string& to,
              int amount) {
  return custodian::transact(client, [&](custodian::TransactionView& view) {
    const int left = balance(view, from);
    if (left < amount) return false;
    store(view, from, left - amount);
    store(view, to, balance(view, to) + amount);
    return true;
  });
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{argv[1]};
    client.create("/examples-accounts");
    client.create("/examples-accounts/mine", "50");
    const std::string mine = "/examples-accounts/mine";
    const std::string yours = "/examples-accounts/yours";
    std::cout << (transfer(client, mine, yours, 30) ? "paid\n" : "not enough\n");
    std::cout << (transfer(client, mine, yours, 30) ? "paid\n" : "not enough\n");
    std::cout << client.get(mine).data << " and " << client.get(yours).data << '\n';
  } catch (const custodian::Error& error) {
    if (error.code() == custodian::ErrorCondition::outcome_unknown) {
      std::cerr << "nobody knows whether it was done: ";
    }
    std::cerr << error.what() << '\n';
    return 1;
  }
}
