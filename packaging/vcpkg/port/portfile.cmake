# Builds the tree that this port lies in. A port of a registry would get a release's archive here instead
# (vcpkg_from_github with its REF and SHA512).
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        discovery  CUSTODIAN_BUILD_DISCOVERY
        prometheus CUSTODIAN_BUILD_PROMETHEUS
        testing    CUSTODIAN_BUILD_TESTING
        tls        CUSTODIAN_TLS
        tools      CUSTODIAN_BUILD_TOOLS
)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        -DCUSTODIAN_BUILD_TESTS=OFF
        -DCUSTODIAN_BUILD_EXAMPLES=OFF
        -DCUSTODIAN_BUILD_BENCH=OFF
        # Kerberos is the system's affair.
        -DCUSTODIAN_SASL=OFF
        # Where vcpkg has programs: the harness's, tools/custodian/custodian-testing-guardian.
        -DCMAKE_INSTALL_LIBEXECDIR=tools
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Custodian CONFIG_PATH lib/cmake/Custodian)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES custodian AUTO_CLEAN)
endif()

file(REMOVE_RECURSE
    "${CURRENT_PACKAGES_DIR}/debug/include"
    "${CURRENT_PACKAGES_DIR}/debug/share"
    "${CURRENT_PACKAGES_DIR}/debug/tools"
)
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
