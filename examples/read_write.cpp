// Many readers or one writer, on all machines; and a writer that becomes a reader without letting
// another writer in.
//
//   custodian-example-read_write 127.0.0.1:2181

#include <iostream>
#include <shared_mutex>

#include "custodian/client.hpp"
#include "custodian/locks/inter_process_read_write_lock.hpp"

void read_price(custodian::InterProcessReadWriteLock& lock) {
  const std::shared_lock guard{lock};
  // Other readers may be here, but no writer.
  std::cout << "reading\n";
}

void write_price(custodian::InterProcessReadWriteLock& lock) {
  custodian::Lease writing = lock.write().acquire();
  std::cout << "writing with token " << to_string(writing.token()) << '\n';
  const custodian::Lease reading = lock.read().acquire(writing);
  writing.release();
  // Other readers may be here again, and no other writer has written in between.
  std::cout << "telling what was written\n";
}

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " host:port[,host:port...]\n";
    return 2;
  }
  try {
    const custodian::Client client{argv[1]};
    custodian::InterProcessReadWriteLock lock{client, "/examples/price"};
    write_price(lock);
    read_price(lock);
  } catch (const custodian::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
