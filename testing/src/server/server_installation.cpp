#include "server/server_installation.hpp"

#include <array>
#include <cstdlib>
#include <fstream>

namespace custodian::testing {
namespace {

// Returns the first non-empty value: the option, the environment variable, the default.
std::string choose(const std::string& option, const char* variable, const char* otherwise) {
  if (!option.empty()) return option;
  if (const char* value = std::getenv(variable); value != nullptr && *value != '\0') return value;
  return otherwise;
}

constexpr const char* debian_zookeeper = "/usr/share/java/zookeeper.jar";
// Debian's zookeeper.jar lists all its dependencies except a logger.
constexpr const char* debian_classpath =
    "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar";

// The jar files that Netty's connection factory needs, and that Debian's zookeeper.jar does not
// list.
constexpr std::array debian_netty{"/usr/share/java/netty-codec.jar",
                                  "/usr/share/java/netty-resolver.jar",
                                  "/usr/share/java/netty-transport-native-unix-common.jar"};

void require(const char* jar, const char* what, const TestingServerOptions& options) {
  if (std::filesystem::exists(jar)) return;
  throw TestingError{std::string{"there is no "} + what + " here: " + jar + " does not exist. " +
                     how_to_install(options)};
}

std::string classpath_for(const TestingServerOptions& options) {
  std::string path = choose(options.classpath, "CUSTODIAN_ZOOKEEPER_CLASSPATH", debian_classpath);
  if (path != debian_classpath) return path;
  require(debian_zookeeper, "ZooKeeper server", options);
  if (options.connection_factory == ConnectionFactory::netty) {
    for (const char* jar : debian_netty) {
      require(jar, "Netty for a ZooKeeper server", options);
      path += std::string{":"} + jar;
    }
  }
  return path;
}

std::string property(const std::string& name, const std::string& value) {
  return "-D" + name + "=" + value;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file{path};
  file << text;
  file.close();
  if (!file) throw TestingError{"cannot write " + path.string()};
}

std::string_view to_zookeeper(ClientCertificates certificates) {
  switch (certificates) {
    case ClientCertificates::ignored: return "none";
    case ClientCertificates::wanted: return "want";
    case ClientCertificates::needed: return "need";
  }
  return {};
}

/// Writes the lines of zoo.cfg for TLS, and the files that they name. ZooKeeper knows the type of a
/// store by the suffix .pem.
void write_tls(std::ofstream& config, const ServerTls& tls, const std::string& address,
               const std::filesystem::path& directory, std::uint16_t port) {
  write_file(directory / "server.pem", tls.identity.key + tls.identity.certificate);
  write_file(directory / "clients.pem", tls.clients_authority);
  config << "secureClientPortAddress=" << address << "\n"
         << "secureClientPort=" << port << "\n"
         << "ssl.keyStore.location=./server.pem\n"
         << "ssl.trustStore.location=./clients.pem\n"
         << "ssl.clientAuth=" << to_zookeeper(tls.client_certificates) << "\n";
}

}  // namespace

std::string how_to_install(const TestingServerOptions& options) {
  const bool netty = options.connection_factory == ConnectionFactory::netty;
  return std::string{"Debian, Ubuntu: apt-get install default-jre-headless libzookeeper-java"} +
         (netty ? " libnetty-java" : "") +
         "; in Custodian's source tree tools/setup does it. Elsewhere: CUSTODIAN_JAVA names the "
         "java program and CUSTODIAN_ZOOKEEPER_CLASSPATH ZooKeeper's jar files" +
         (netty ? ", and Netty's," : "") + " (/opt/zookeeper/lib/*).";
}

std::vector<std::string> server_command(const TestingServerOptions& options) {
  const std::string classpath = classpath_for(options);
  std::vector<std::string> command{
      choose(options.java, "CUSTODIAN_JAVA", "java"),
      // These options suit a short life on a small machine: no optimising compiler, no collector
      // with its own threads, and no file in /tmp/hsperfdata_*, which a killed server would leave
      // behind.
      "-XX:TieredStopAtLevel=1",
      "-XX:+UseSerialGC",
      "-XX:-UsePerfData",
      "-Xshare:auto",
      "-Xms32m",
      "-Xmx512m",
      "-Djava.awt.headless=true",
      property("org.slf4j.simpleLogger.defaultLogLevel", "warn"),
      property("org.slf4j.simpleLogger.showDateTime", "true"),
      property("org.slf4j.simpleLogger.dateTimeFormat", "HH:mm:ss.SSS"),
      property("zookeeper.jmx.log4j.disable", "true"),
      property("zookeeper.admin.enableServer", "false"),
      property("zookeeper.extendedTypesEnabled", options.extended_types ? "true" : "false"),
      property("zookeeper.forceSync", options.force_sync ? "yes" : "no"),
      property("zookeeper.snapCount", std::to_string(options.snapshot_count)),
      property("znode.container.checkIntervalMs",
               std::to_string(options.container_check_interval.count())),
  };
  if (options.jute_max_buffer != 0) {
    command.push_back(property("jute.maxbuffer", std::to_string(options.jute_max_buffer)));
  }
  if (!options.jaas.empty()) {
    command.push_back(property("java.security.auth.login.config", "./jaas.conf"));
  }
  command.insert(command.end(), options.java_options.begin(), options.java_options.end());
  command.insert(command.end(), {"-cp", classpath,
                                 options.ensemble_member == 0
                                     ? "org.apache.zookeeper.server.ZooKeeperServerMain"
                                     : "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                                 "./zoo.cfg"});
  return command;
}

void write_config(const TestingServerOptions& options, const std::filesystem::path& directory,
                  ClientPorts ports) {
  std::ofstream config{directory / "zoo.cfg"};
  config << "tickTime=" << options.tick_time.count() << "\n"
         << "minSessionTimeout=" << options.min_session_timeout.count() << "\n"
         << "maxSessionTimeout=" << options.max_session_timeout.count() << "\n"
         << "dataDir=./data\n"
         << "clientPortAddress=" << options.address << "\n"
         << "clientPort=" << ports.plain << "\n"
         << "maxClientCnxns=" << options.max_client_connections << "\n"
         << "4lw.commands.whitelist=*\n";
  if (options.connection_factory == ConnectionFactory::netty)
    config << "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n";
  if (options.tls) write_tls(config, *options.tls, options.address, directory, ports.secure);
  if (!options.jaas.empty()) {
    write_file(directory / "jaas.conf", options.jaas);
    config << "authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n";
  }
  for (const auto& line : options.config_lines) config << line << "\n";
  config.close();
  if (!config) throw TestingError{"cannot write " + (directory / "zoo.cfg").string()};
  if (options.ensemble_member == 0) return;
  std::filesystem::create_directory(directory / "data");
  std::ofstream number{directory / "data" / "myid"};
  number << options.ensemble_member << "\n";
  number.close();
  if (!number) throw TestingError{"cannot write " + (directory / "data" / "myid").string()};
}

std::string guardian_program(const TestingServerOptions& options) {
  const char* const installed = CUSTODIAN_TESTING_INSTALLED_GUARDIAN;
  return choose({}, "CUSTODIAN_TESTING_GUARDIAN",
                options.guardian.empty() ? installed : options.guardian.c_str());
}

}  // namespace custodian::testing
