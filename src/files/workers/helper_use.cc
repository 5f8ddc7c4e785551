#include "files/workers/helper_use.h"

namespace holdfast::files {

Result<> HelperUse::Call(std::string_view operation, std::string_view params_json, std::string& json) {
  return EndLeaseAfter((*lease_)->Call(operation, params_json, json));
}

Result<File> HelperUse::Open(const wire::FsOpenFileParams& params) { return EndLeaseAfter((*lease_)->Open(params)); }

template <typename T>
Result<T> HelperUse::EndLeaseAfter(Result<T> outcome) {
  is_stale_ = (*lease_)->stale();
  lease_.reset();
  return outcome;
}

}  // namespace holdfast::files
