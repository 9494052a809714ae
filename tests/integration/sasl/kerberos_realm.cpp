#include "integration/sasl/kerberos_realm.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "child_process/child_process.hpp"
#include "support/test_client.hpp"
#include "wire/deadline_socket.hpp"

namespace custodian::tests {
namespace {

constexpr const char* path = "/usr/sbin:/sbin:/usr/bin:/bin";

int status_of(const std::string& command) {
  return std::system(("PATH=" + std::string{path} + "; " + command).c_str());
}

void run(const std::string& command) {
  if (status_of(command) != 0) throw std::runtime_error{"failed: " + command};
}

std::string krb5_conf(const std::string& kdc) {
  return "[libdefaults]\n"
         "  default_realm = CUSTODIAN.TEST\n"
         "  dns_lookup_kdc = false\n"
         "  dns_lookup_realm = false\n"
         "  dns_canonicalize_hostname = false\n"
         "  rdns = false\n"
         "  udp_preference_limit = 1\n"
         // By default servers accept a ticket until five minutes after its end.
         "  clockskew = 3\n"
         "[realms]\n"
         "  CUSTODIAN.TEST = {\n"
         "    kdc = " +
         kdc +
         "\n"
         "  }\n"
         "[domain_realm]\n"
         "  localhost = CUSTODIAN.TEST\n"
         "  stranger = CUSTODIAN.TEST\n";
}

std::string kdc_conf(const std::string& kdc, const Directory& files) {
  return "[kdcdefaults]\n"
         "  kdc_listen = " +
         kdc +
         "\n"
         "  kdc_tcp_listen = " +
         kdc +
         "\n"
         "[realms]\n"
         "  CUSTODIAN.TEST = {\n"
         "    database_name = " +
         files.file("principal") +
         "\n"
         "    key_stash_file = " +
         files.file("stash") +
         "\n"
         "    acl_file = " +
         files.file("kadm5.acl") +
         "\n"
         "  }\n"
         "[logging]\n"
         "  kdc = FILE:" +
         files.file("kdc.log") + "\n";
}

}  // namespace

std::optional<std::string> KerberosRealm::missing() {
  if (status_of("command -v krb5kdc kdb5_util kadmin.local kinit klist setpriv >/dev/null") == 0) {
    return std::nullopt;
  }
  return "needs a KDC: apt-get install krb5-kdc krb5-admin-server krb5-user";
}

KerberosRealm::KerberosRealm() {
  const std::string kdc = "127.0.0.1:" + std::to_string(port_.number());
  ::setenv("KRB5_CONFIG", files_.with("krb5.conf", krb5_conf(kdc)).c_str(), 1);
  ::setenv("KRB5_KDC_PROFILE", files_.with("kdc.conf", kdc_conf(kdc, files_)).c_str(), 1);
  ::setenv("KRB5CCNAME", cache("none").c_str(), 1);
  run("kdb5_util create -s -P master -r CUSTODIAN.TEST >/dev/null");
  const std::string life = "\"" + std::to_string(brief_life.count()) + " seconds\"";
  const std::string commands = files_.with("commands",
                                           "addprinc -pw secret anna\n"
                                           "addprinc -pw secret bert\n"
                                           "addprinc -pw secret -maxlife " +
                                               life +
                                               " brief\n"
                                               "addprinc -randkey zookeeper/localhost\n"
                                               "addprinc -randkey zookeeper/stranger\n"
                                               "ktadd -k " +
                                               server_keytab() + " zookeeper/localhost\n");
  run("kadmin.local <" + commands + " >/dev/null 2>&1");
  start();
}

KerberosRealm::~KerberosRealm() = default;

std::string KerberosRealm::keytab_of(const std::string& principal) const {
  const std::string keytab = files_.file(principal + ".keytab");
  run("kadmin.local -q 'ktadd -norandkey -k " + keytab + " " + principal + "' >/dev/null");
  return keytab;
}

void KerberosRealm::kinit(const std::string& principal, const std::string& cache) const {
  run("echo secret | kinit -c " + cache + " " + principal + " >/dev/null");
}

int KerberosRealm::logins_of(const std::string& principal) const {
  std::ifstream log{files_.file("kdc.log")};
  int logins = 0;
  for (std::string line; std::getline(log, line);) {
    const bool is_login = line.find("AS_REQ") != std::string::npos &&
                          line.find("ISSUE") != std::string::npos &&
                          line.find(" " + principal + "@") != std::string::npos;
    if (is_login) ++logins;
  }
  return logins;
}

bool KerberosRealm::has_ended(const std::string& cache) {
  return status_of("klist -s -c " + cache) != 0;
}

void KerberosRealm::stop() { kdc_.reset(); }

void KerberosRealm::start() {
  kdc_ = std::make_unique<testing::ChildProcess>(
      "/usr/bin/setpriv",
      std::vector<std::string>{"--pdeathsig", "KILL", "/usr/sbin/krb5kdc", "-n"});
  const bool listens = eventually([&] {
    try {
      const testing::DeadlineSocket socket{{"127.0.0.1", port_.number()},
                                           std::chrono::steady_clock::now() + patience};
      return true;
    } catch (const testing::TestingError&) {
      return false;
    }
  });
  if (!listens) throw std::runtime_error{"the KDC does not listen"};
}

void KerberosRealm::pause() const { kdc_->send_signal(SIGSTOP); }

void KerberosRealm::resume() const { kdc_->send_signal(SIGCONT); }

}  // namespace custodian::tests
