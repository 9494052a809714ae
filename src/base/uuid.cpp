#include "custodian/authoring/uuid.hpp"

#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace custodian {

// Boost's pure generator asks the kernel each time. One that is seeded once would go on in a forked
// child with the parent's numbers, and two contenders would take each other's nodes for their own.
std::string make_uuid() { return to_string(boost::uuids::random_generator_pure{}()); }

}  // namespace custodian
