# KerberosGssapi::gssapi_krb5: GSSAPI by MIT's Kerberos. Heimdal has no credential stores under these names, and is refused.

find_path(KerberosGssapi_INCLUDE_DIR gssapi/gssapi_krb5.h)
find_path(KerberosGssapi_EXT_INCLUDE_DIR gssapi/gssapi_ext.h HINTS "${KerberosGssapi_INCLUDE_DIR}")
find_library(KerberosGssapi_LIBRARY gssapi_krb5)
mark_as_advanced(KerberosGssapi_INCLUDE_DIR KerberosGssapi_EXT_INCLUDE_DIR KerberosGssapi_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(KerberosGssapi
  REQUIRED_VARS KerberosGssapi_LIBRARY KerberosGssapi_INCLUDE_DIR KerberosGssapi_EXT_INCLUDE_DIR)

if(KerberosGssapi_FOUND AND NOT TARGET KerberosGssapi::gssapi_krb5)
  add_library(KerberosGssapi::gssapi_krb5 UNKNOWN IMPORTED)
  set_target_properties(KerberosGssapi::gssapi_krb5 PROPERTIES
    IMPORTED_LOCATION "${KerberosGssapi_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${KerberosGssapi_INCLUDE_DIR};${KerberosGssapi_EXT_INCLUDE_DIR}")
endif()
