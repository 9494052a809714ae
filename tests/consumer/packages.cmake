# The Debian packages, unpacked into an empty root: their contents suffice, each file is in the right package, and their
# dependencies are declared. Argument (-D): PACKAGES, their folder.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

set(root ${WORK_DIR}/root)
file(REMOVE_RECURSE ${root})

# expect_field(<package file> <field> <regular expression>...)
function(expect_field package field)
  output_of(value ${DPKG_DEB} --field ${package} ${field})
  foreach(pattern IN LISTS ARGN)
    if(NOT value MATCHES "${pattern}")
      message(FATAL_ERROR "${package}: ${field} is \"${value}\", without ${pattern}")
    endif()
  endforeach()
endfunction()

# Unpacks a package, which must have files that match, and no others.
function(unpack name pattern result)
  file(GLOB package ${PACKAGES}/${name}_*.deb)
  list(LENGTH package count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "not one package ${name}, but: ${package}")
  endif()
  file(REMOVE_RECURSE ${root}.one)
  run(${DPKG_DEB} --extract ${package} ${root}.one)
  file(GLOB_RECURSE files RELATIVE ${root}.one ${root}.one/*)
  list(FILTER files EXCLUDE REGEX "^usr/share/(doc|lintian)/")
  set(others ${files})
  list(FILTER others EXCLUDE REGEX "${pattern}")
  if(NOT files OR others)
    message(FATAL_ERROR "${package} has ${files}; there should be none of: ${others}")
  endif()
  run(${DPKG_DEB} --extract ${package} ${root})
  set(${result} ${package} PARENT_SCOPE)
endfunction()

unpack(libcustodian[0-9]* "^usr/lib/[^/]+/libcustodian(_recipes|_discovery)?\\.so\\.[0-9.]+$" runtime)
unpack(libcustodian-dev "^usr/(include/custodian|lib/[^/]+/(lib[^/]+\\.(a|so)|cmake/|pkgconfig/)|libexec/)" development)
unpack(custodian-tools "^usr/(bin/custodian|share/man/man1/custodian\\.1\\.gz|share/bash-completion/|share/custodian/systemd/)" tools)
expect_field(${runtime} Depends "libzookeeper-st2" "libstdc\\+\\+6" "libc6")
expect_field(${development} Depends "libcustodian[0-9.]+ \\(= [^)]+\\)" "libboost1.81-dev \\| libboost-dev \\(>= 1.81\\)"
  "libzookeeper-st-dev")
expect_field(${tools} Depends "libcustodian[0-9.]+ \\(= [^)]+\\)" "libspdlog|libfmt|libstdc")

# Without the package for metrics, a project that needs them is referred to that package.
expect_refusal(metrics "without its component prometheus.* libcustodian-prometheus-dev" ${root}.refused
  -DCMAKE_PREFIX_PATH=${root}/usr)
if(PROMETHEUS)
  unpack(libcustodian-prometheus[0-9]* "^usr/lib/[^/]+/libcustodian_prometheus\\.so\\.[0-9.]+$" metrics)
  unpack(libcustodian-prometheus-dev
    "^usr/(include/custodian/prometheus/|lib/[^/]+/(libcustodian_prometheus\\.(a|so)|cmake/|pkgconfig/))" metrics_development)
  expect_field(${metrics} Depends "libcustodian[0-9.]+ \\(= [^)]+\\)" "libprometheus-cpp-core" "libstdc\\+\\+6")
  expect_field(${metrics_development} Depends "libcustodian-prometheus[0-9.]+ \\(= [^)]+\\)"
    "libcustodian-dev \\(= [^)]+\\)" "prometheus-cpp-dev")
  # The package is installed, but the project does not request the component.
  expect_refusal(forgetful "wants_metrics is linked with custodian::prometheus.*COMPONENTS prometheus" ${root}.refused
    -DCMAKE_PREFIX_PATH=${root}/usr)
endif()

# One form is tried with CMake, the other with pkg-config.
try_with_cmake(${root}.with_cmake
  -DCMAKE_PREFIX_PATH=${root}/usr -DCustodian_USE_STATIC_LIBS=ON -DWITH_DISCOVERY=${DISCOVERY}
  -DWITH_PROMETHEUS=${PROMETHEUS})
try_with_pkg_config(${root}/usr ${root}.with_pkg_config)
file(GLOB libraries ${root}/usr/lib/*)
run(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${root}/usr/bin/custodian --version)
