# Run by CPack before it packs: what Debian asks of a package's documents.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

# Reproducible with SOURCE_DATE_EPOCH.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} name)
  set(package ${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr)
  set(documents ${root}/share/doc/${package})
  file(COPY ${CPACK_CUSTODIAN_DEBIAN_DIR}/copyright DESTINATION ${documents})
  file(WRITE ${documents}/changelog.Debian
    "custodian (${CPACK_CUSTODIAN_DEBIAN_VERSION}) unstable; urgency=medium\n\n"
    "  * Built from Custodian's own tree; its CHANGELOG.md says what is new.\n\n"
    " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(MAKE_DIRECTORY ${root}/share/lintian/overrides)
  file(COPY_FILE ${CPACK_CUSTODIAN_DEBIAN_DIR}/lintian-overrides ${root}/share/lintian/overrides/${package})
  file(GLOB pages ${root}/share/man/*/*.[1-9])
  foreach(page IN LISTS pages ITEMS ${documents}/changelog.Debian)
    execute_process(COMMAND gzip --best --no-name ${page} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
