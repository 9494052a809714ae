# FindZooKeeper: the single-threaded ZooKeeper C client.
#
#   ZooKeeper::zookeeper_st   the target, static or shared
#   ZooKeeper_VERSION         as zookeeper_version.h says
#
# The single- and the multi-threaded client are two builds of one source. Debian names them apart
# (zookeeper_st, zookeeper_mt); vcpkg, Conan and the client's own CMake build call either "zookeeper".
# They are distinguished by their symbols: only the multi-threaded build has the synchronous calls, such as
# zoo_get(). It must be refused, not tolerated: it runs threads of its own on the handle that Custodian drives.
#
# Search elsewhere with ZooKeeper_ROOT or CMAKE_PREFIX_PATH.

include(CheckCXXSourceCompiles)
include(FindPackageHandleStandardArgs)

set(_zookeeper_install_hint [[
Install the single-threaded ZooKeeper C client, 3.8 or newer:
  Debian, Ubuntu   apt-get install libzookeeper-st-dev   (in Custodian's source tree, tools/setup does it)
  vcpkg            the port `zookeeper`, without its feature `sync`
  from source      zookeeper-client-c, with -DWANT_SYNCAPI=OFF
Elsewhere on this machine: set ZooKeeper_ROOT to its prefix.]])

find_path(ZooKeeper_INCLUDE_DIR zookeeper/zookeeper.h)
# Of the first place that has either: the system's must not come before that of vcpkg, whose header has been found.
find_library(ZooKeeper_LIBRARY NAMES zookeeper_st zookeeper NAMES_PER_DIR)
# The client's CMake build splits off its hash table as a second static library; vcpkg gives it a longer name.
find_library(ZooKeeper_HASHTABLE_LIBRARY NAMES zookeeper_hashtable hashtable)
mark_as_advanced(ZooKeeper_INCLUDE_DIR ZooKeeper_LIBRARY ZooKeeper_HASHTABLE_LIBRARY)

if(ZooKeeper_INCLUDE_DIR)
  file(STRINGS ${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h _zookeeper_version_line
    REGEX "#define +ZOO_VERSION +\"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" ZooKeeper_VERSION "${_zookeeper_version_line}")
  if(NOT ZooKeeper_VERSION)
    # Before 3.7 the header had the three numbers apart: enough to say that it is too old.
    file(STRINGS ${ZooKeeper_INCLUDE_DIR}/zookeeper/zookeeper_version.h _zookeeper_version_line
      REGEX "#define +ZOO_M(AJOR|INOR)_VERSION +[0-9]")
    string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]+([0-9]+).*" "\\1.\\2" ZooKeeper_VERSION "${_zookeeper_version_line}")
  endif()
endif()

set(_zookeeper_reason "")
if(NOT ZooKeeper_LIBRARY)
  # Debian's two development packages conflict, so this is the usual way to have the wrong one.
  find_library(_zookeeper_mt NAMES zookeeper_mt NO_CACHE)
  if(_zookeeper_mt)
    string(APPEND _zookeeper_reason "${_zookeeper_mt} is the multi-threaded client, which Custodian cannot drive: "
      "it runs threads of its own. On Debian libzookeeper-mt-dev must make room for libzookeeper-st-dev.\n")
  endif()
elseif(ZooKeeper_INCLUDE_DIR)
  set(_zookeeper_link ${ZooKeeper_LIBRARY})
  if(ZooKeeper_HASHTABLE_LIBRARY AND ZooKeeper_LIBRARY MATCHES "\\.(a|lib)$")
    list(APPEND _zookeeper_link ${ZooKeeper_HASHTABLE_LIBRARY})
  endif()
  find_package(Threads QUIET)
  list(APPEND _zookeeper_link ${CMAKE_THREAD_LIBS_INIT})
  if(UNIX)
    list(APPEND _zookeeper_link m)
  endif()

  function(_zookeeper_links symbol libraries result)
    set(CMAKE_REQUIRED_LIBRARIES ${libraries})
    set(CMAKE_REQUIRED_FLAGS "")
    set(CMAKE_REQUIRED_QUIET ON)
    # A library may come into another place, or an upgrade change what it is: the answer belongs to this file.
    file(TIMESTAMP ${ZooKeeper_LIBRARY} stamp)
    string(SHA1 key "${symbol} ${libraries} ${stamp}")
    check_cxx_source_compiles("extern \"C\" int ${symbol}(void); int main() { return ${symbol}(); }"
      ZooKeeper_CHECK_${key})
    set(${result} ${ZooKeeper_CHECK_${key}} PARENT_SCOPE)
  endfunction()

  _zookeeper_links(zookeeper_interest "${_zookeeper_link}" _zookeeper_usable)
  if(NOT _zookeeper_usable)
    # A static build may be one with TLS.
    find_package(OpenSSL QUIET)
    if(TARGET OpenSSL::SSL)
      list(APPEND _zookeeper_link OpenSSL::SSL OpenSSL::Crypto)
      _zookeeper_links(zookeeper_interest "${_zookeeper_link}" _zookeeper_usable)
    endif()
  endif()
  _zookeeper_links(zoo_get "${_zookeeper_link}" _zookeeper_is_mt)

  if(NOT _zookeeper_usable)
    string(APPEND _zookeeper_reason
      "A program does not link with ${ZooKeeper_LIBRARY}; is it for this machine, and are its own dependencies here?\n")
  elseif(_zookeeper_is_mt)
    string(APPEND _zookeeper_reason "${ZooKeeper_LIBRARY} is the multi-threaded client (it has zoo_get()), "
      "which Custodian cannot drive: it runs threads of its own. Conan Center has only this one.\n")
  endif()
  if(_zookeeper_usable AND NOT _zookeeper_is_mt)
    set(ZooKeeper_SINGLE_THREADED TRUE)
  endif()
endif()

find_package_handle_standard_args(ZooKeeper
  REQUIRED_VARS ZooKeeper_LIBRARY ZooKeeper_INCLUDE_DIR ZooKeeper_SINGLE_THREADED
  VERSION_VAR ZooKeeper_VERSION
  REASON_FAILURE_MESSAGE "\n${_zookeeper_reason}${_zookeeper_install_hint}")

if(ZooKeeper_FOUND AND NOT TARGET ZooKeeper::zookeeper_st)
  add_library(ZooKeeper::zookeeper_st UNKNOWN IMPORTED)
  list(REMOVE_AT _zookeeper_link 0)
  set_target_properties(ZooKeeper::zookeeper_st PROPERTIES
    IMPORTED_LOCATION ${ZooKeeper_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ZooKeeper_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "${_zookeeper_link}")
endif()
