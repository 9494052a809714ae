#include "acquire/acquires_under_way.hpp"

#include <typeinfo>

#include "custodian/authoring/operations.hpp"

namespace custodian::recipes_detail {

AcquiresUnderWay& AcquiresUnderWay::of(const CorePtr& core) {
  return static_cast<AcquiresUnderWay&>(use_service(
      own_core(core), typeid(AcquiresUnderWay), [](const boost::asio::any_io_executor& strand) {
        return std::make_unique<AcquiresUnderWay>(strand);
      }));
}

}  // namespace custodian::recipes_detail
