# Custodian as a part of somebody else's project.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)

# The options are those of the build around this test, so that the compiler cache knows every file already.
try_with_cmake(${WORK_DIR}/subdirectory -DCUSTODIAN_AS_SUBDIRECTORY=${SOURCE_DIR} ${OPTIONS})
