// A client's log lines go to a function of yours.
//
//   custodian-example-log 127.0.0.1:2181

#include <iostream>
#include <string_view>

#include "custodian/client.hpp"

/// Called on the client's callback executor, one line at a time.
void write_line(custodian::LogLevel level, std::string_view message) {
  if (level == custodian::LogLevel::debug) return;
  std::cerr << "custodian: " << to_string(level) << ": " << message << '\n';
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    custodian::Client client{{.servers = argv[1], .log = write_line}};
    client.wait_connected();
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
