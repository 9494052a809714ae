# Install rules, and the package that find_package(Custodian CONFIG) finds.
include(CMakePackageConfigHelpers)

set(_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Custodian)
set(_targets custodian_asio custodian custodian_recipes)
set_target_properties(custodian_recipes PROPERTIES EXPORT_NAME recipes)
install(DIRECTORY include/ recipes/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")

if(CUSTODIAN_BUILD_TESTING)
  list(APPEND _targets custodian_testing)
  set_target_properties(custodian_testing PROPERTIES EXPORT_NAME testing)
  install(DIRECTORY testing/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
  install(TARGETS custodian_testing_guardian DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/custodian)
endif()

if(TARGET custodian_prometheus)
  # A file of its own, which is read only where prometheus-cpp is.
  set_target_properties(custodian_prometheus PROPERTIES EXPORT_NAME prometheus)
  install(DIRECTORY src/prometheus/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
  install(TARGETS custodian_prometheus EXPORT CustodianPrometheusTargets)
  install(EXPORT CustodianPrometheusTargets NAMESPACE custodian:: DESTINATION ${_package_dir})
endif()

install(TARGETS ${_targets} EXPORT CustodianTargets)
install(EXPORT CustodianTargets NAMESPACE custodian:: DESTINATION ${_package_dir})

configure_package_config_file(cmake/CustodianConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/CustodianConfig.cmake
  INSTALL_DESTINATION ${_package_dir})
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/CustodianConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/CustodianConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/CustodianConfigVersion.cmake
  cmake/FindZooKeeper.cmake
  DESTINATION ${_package_dir})
