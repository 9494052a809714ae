# Custodian installed. Arguments (-D): FORM (static or shared), INSTALL_FROM, a build of that form, and MADE_FOR_PACKAGES
# if it is tools/package's.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

set(folder ${WORK_DIR}/${FORM})
file(REMOVE_RECURSE ${folder})
if(MADE_FOR_PACKAGES)
  # A build for packages sets no run path, since the system finds the libraries; other builds do.
  run(${CMAKE_COMMAND} -DCMAKE_SKIP_INSTALL_RPATH=OFF ${INSTALL_FROM})
  run(${CMAKE_COMMAND} --build ${INSTALL_FROM})
endif()
run(${CMAKE_COMMAND} --install ${INSTALL_FROM} --prefix ${folder}/installed)
# Packages are built in one place and unpacked in another: no file may refer to the first.
set(prefix ${folder}/moved)
file(RENAME ${folder}/installed ${prefix})

if(FORM STREQUAL "static")
  set(is_static ON)
else()
  set(is_static OFF)
endif()
try_with_cmake(${folder}/with_cmake
  -DCMAKE_PREFIX_PATH=${prefix} -DCustodian_USE_STATIC_LIBS=${is_static} -DWITH_DISCOVERY=${DISCOVERY}
  -DWITH_PROMETHEUS=${PROMETHEUS})
if(FORM STREQUAL "shared")
  # A program without static libraries needs no OpenSSL.
  run(${CMAKE_COMMAND} -S ${stranger}/shared_only -B ${folder}/without_openssl -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${CXX_COMPILER} -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_DISABLE_FIND_PACKAGE_OpenSSL=ON)
endif()
try_with_pkg_config(${prefix} ${folder}/with_pkg_config)
if(EXISTS ${prefix}/bin/custodian)
  run(${prefix}/bin/custodian --version)
endif()
