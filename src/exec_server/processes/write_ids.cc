#include "exec_server/processes/write_ids.h"

namespace holdfast::exec_server {

bool WriteIds::Remember(const std::string& id) {
  if (!known_.insert(id).second) return false;
  order_.push_back(id);
  if (order_.size() > kRemembered) {
    known_.erase(order_.front());
    order_.pop_front();
  }
  return true;
}

void WriteIds::Forget(const std::string& id) {
  known_.erase(id);
  std::erase(order_, id);
}

}  // namespace holdfast::exec_server
