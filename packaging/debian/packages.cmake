# Debian packages: libcustodian<soversion> (what programs need), libcustodian-dev (what it takes to build them) and
# custodian-tools; where custodian::prometheus is built libcustodian-prometheus<soversion> and libcustodian-prometheus-dev,
# too. tools/package makes them; `cpack -G DEB` in a build with shared libraries does, too, without the static ones.
set(CUSTODIAN_STATIC_BUILD "" CACHE PATH
  "A build with static libraries, with the same prefix: they go into libcustodian-dev, too")

get_target_property(_soversion custodian SOVERSION)
set(_version ${PROJECT_VERSION}-1)

set(CPACK_PACKAGE_NAME custodian)
set(CPACK_PACKAGE_VENDOR Custodian)
# Empty, so that each package's description begins with its own.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_INSTALL_CMAKE_PROJECTS "${PROJECT_BINARY_DIR};${PROJECT_NAME};ALL;/")
if(CUSTODIAN_STATIC_BUILD)
  list(PREPEND CPACK_INSTALL_CMAKE_PROJECTS "${CUSTODIAN_STATIC_BUILD};${PROJECT_NAME};ALL;/")
endif()

# As Debian's own tools take it, where it is set.
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(CPACK_PACKAGE_CONTACT "Custodian maintainers <maintainers@custodian.invalid>")
endif()
set(CPACK_DEBIAN_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development tools)
if(TARGET custodian_prometheus)
  list(APPEND CPACK_COMPONENTS_ALL prometheus prometheus_development)
endif()
# Dependencies on others' libraries are found by dpkg-shlibdeps, which is shown where ours are.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
  ${PROJECT_BINARY_DIR}/src ${PROJECT_BINARY_DIR}/recipes ${PROJECT_BINARY_DIR}/recipes/src/discovery)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libcustodian${_soversion})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "locks between machines, on ZooKeeper - shared libraries
Custodian is a C++20 library of ZooKeeper recipes (fair locks, semaphores,
leader election, shared values) in the manner of Apache Curator, and
compatible with it on the wire.
.
This package has the shared libraries that programs need.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcustodian-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
string(CONCAT CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libcustodian${_soversion} (= ${_version}), libboost1.81-dev | libboost-dev (>= 1.81), libzookeeper-st-dev (>= 3.8)")
if(CUSTODIAN_HAS_TLS)
  # For programs that are linked with the static libraries.
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libssl-dev (>= 1.1.1)")
endif()
if(CUSTODIAN_HAS_SASL)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libkrb5-dev")
endif()
# For custodian::testing, and what uses it; and for metrics.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "default-jre-headless, libzookeeper-java, libcustodian-prometheus-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "locks between machines, on ZooKeeper - development files
Custodian is a C++20 library of ZooKeeper recipes (fair locks, semaphores,
leader election, shared values) in the manner of Apache Curator, and
compatible with it on the wire.
.
This package has headers and libraries, for CMake and pkg-config, and the
library custodian::testing: ZooKeeper servers and faults for tests.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME custodian-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libcustodian${_soversion} (= ${_version})")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "locks between machines, on ZooKeeper - command-line tool
The command custodian runs a shell's commands under a lock, permits of a
semaphore or a leadership, and shows who holds what and who waits, whoever
has made these locks: Custodian, Apache Curator or kazoo.")

# Of their own: prometheus-cpp's development package brings an HTTP server and curl along.
set(CPACK_DEBIAN_PROMETHEUS_PACKAGE_NAME libcustodian-prometheus${_soversion})
set(CPACK_DEBIAN_PROMETHEUS_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PROMETHEUS_PACKAGE_DEPENDS "libcustodian${_soversion} (= ${_version})")
set(CPACK_DEBIAN_PROMETHEUS_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
set(CPACK_COMPONENT_PROMETHEUS_DESCRIPTION "locks between machines, on ZooKeeper - metrics for Prometheus
Custodian is a C++20 library of ZooKeeper recipes (fair locks, semaphores,
leader election, shared values) in the manner of Apache Curator, and
compatible with it on the wire.
.
This package has the shared library that makes metrics for Prometheus of what
a program's clients do.")

set(CPACK_DEBIAN_PROMETHEUS_DEVELOPMENT_PACKAGE_NAME libcustodian-prometheus-dev)
set(CPACK_DEBIAN_PROMETHEUS_DEVELOPMENT_PACKAGE_SECTION libdevel)
string(CONCAT CPACK_DEBIAN_PROMETHEUS_DEVELOPMENT_PACKAGE_DEPENDS
  "libcustodian-prometheus${_soversion} (= ${_version}), libcustodian-dev (= ${_version}), prometheus-cpp-dev (>= 1.0)")
set(CPACK_COMPONENT_PROMETHEUS_DEVELOPMENT_DESCRIPTION
  "locks between machines, on ZooKeeper - metrics, development files
Custodian is a C++20 library of ZooKeeper recipes (fair locks, semaphores,
leader election, shared values) in the manner of Apache Curator, and
compatible with it on the wire.
.
This package has the headers and libraries of custodian::prometheus, metrics
for Prometheus by prometheus-cpp, for CMake and pkg-config.")

# For documents.cmake.
set(CPACK_CUSTODIAN_DEBIAN_DIR ${CMAKE_CURRENT_LIST_DIR})
set(CPACK_CUSTODIAN_DEBIAN_VERSION ${_version})
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/documents.cmake)
include(CPack)
