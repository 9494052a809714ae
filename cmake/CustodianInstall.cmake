# Install rules, and the packages that find_package(Custodian CONFIG) and pkg-config find.
#
# Components: runtime (the shared libraries, which programs need), development (all else that it takes to build with
# them, or with the static ones) and tools (the program `custodian`); prometheus and prometheus_development are the first
# two of custodian::prometheus, whose dependency is not to become the others'.
#
# A static and a shared build may be installed into one prefix, one after the other. Each brings its own list of targets,
# and CustodianConfig.cmake takes one of them.
include(CMakePackageConfigHelpers)

set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Custodian)
set(_targets custodian_asio custodian custodian_recipes)
set_target_properties(custodian_recipes PROPERTIES EXPORT_NAME recipes)
if(TARGET custodian_discovery)
  list(APPEND _targets custodian_discovery)
  set_target_properties(custodian_discovery PROPERTIES EXPORT_NAME discovery)
endif()
if(CUSTODIAN_BUILD_TESTING)
  list(APPEND _targets custodian_testing)
  set_target_properties(custodian_testing PROPERTIES EXPORT_NAME testing)
  install(TARGETS custodian_testing_guardian
    DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/custodian COMPONENT development)
endif()
install(TARGETS ${_targets} EXPORT CustodianTargets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development
  FILE_SET HEADERS COMPONENT development)

if(BUILD_SHARED_LIBS)
  set(_form shared)
  # They find each other in any prefix. Packages for a system set CMAKE_SKIP_INSTALL_RPATH.
  set_target_properties(custodian_recipes PROPERTIES INSTALL_RPATH $ORIGIN)
  if(TARGET custodian_discovery)
    set_target_properties(custodian_discovery PROPERTIES INSTALL_RPATH $ORIGIN)
  endif()
  if(TARGET custodian-cli)
    file(RELATIVE_PATH _to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_target_properties(custodian-cli PROPERTIES INSTALL_RPATH $ORIGIN/${_to_libraries})
  endif()
else()
  set(_form static)
endif()
install(EXPORT CustodianTargets NAMESPACE custodian:: FILE CustodianTargets-${_form}.cmake
  DESTINATION ${_package_dir} COMPONENT development)
if(TARGET custodian_prometheus)
  set_target_properties(custodian_prometheus PROPERTIES EXPORT_NAME prometheus INSTALL_RPATH $ORIGIN)
  install(TARGETS custodian_prometheus EXPORT CustodianPrometheusTargets
    LIBRARY COMPONENT prometheus NAMELINK_COMPONENT prometheus_development
    ARCHIVE COMPONENT prometheus_development
    FILE_SET HEADERS COMPONENT prometheus_development)
  # A file of its own, which is read only where prometheus-cpp is.
  install(EXPORT CustodianPrometheusTargets NAMESPACE custodian:: FILE CustodianPrometheusTargets-${_form}.cmake
    DESTINATION ${_package_dir} COMPONENT prometheus_development)
endif()
configure_package_config_file(cmake/CustodianConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/CustodianConfig.cmake
  INSTALL_DESTINATION ${_package_dir})
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/CustodianConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/CustodianConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/CustodianConfigVersion.cmake
  cmake/FindKerberosGssapi.cmake
  cmake/FindZooKeeper.cmake
  DESTINATION ${_package_dir} COMPONENT development)

include(CustodianPkgConfig)
