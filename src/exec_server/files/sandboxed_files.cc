#include "exec_server/files/sandboxed_files.h"

#include <utility>

namespace holdfast::exec_server {

FileJobs::Gate HelperUse::Gate(files::FileHelpers& helpers, const std::string& session_id,
                               const sandbox::SandboxSpec& sandbox) {
  return [&helpers, session_id, sandbox, use = use_](FileJobs::Begin begin) {
    helpers.Acquire(session_id, sandbox,
                    [use, begin = std::move(begin)](Result<files::FileHelpers::Lease> lease) mutable {
                      if (!lease) return begin(std::unexpected(std::move(lease).error()));
                      use->lease = *std::move(lease);
                      begin({});
                    });
  };
}

FileJobs::Step HelperUse::Call(std::string_view operation, std::string params_json) {
  return RetryWhenStale([use = use_, operation = std::string(operation), params = std::move(params_json)](
                            std::string& json, size_t) -> Result<size_t> {
    const auto called = use->lease->Call(operation, params, json);
    use->is_stale = use->lease->stale();
    TRY_VOID(called);
    return 0;
  });
}

std::move_only_function<Result<files::File>()> HelperUse::Opener(wire::FsOpenFileParams params) {
  return [use = use_, params = std::move(params)]() mutable -> Result<files::File> {
    const files::FileHelpers::Lease lease = std::exchange(use->lease, nullptr);  // what follows needs the file alone
    auto opened = lease->Open(params);
    use->is_stale = lease->stale();
    return opened;
  };
}

// Names that come to exist again and again, each time while a helper starts, are no reason to go on forever.
FileJobs::Step HelperUse::RetryWhenStale(FileJobs::Step step) {
  constexpr int max_stale_helpers = 3;
  return [use = use_, step = std::move(step)](std::string& json, size_t allowed) mutable -> Result<size_t> {
    auto progress = step(json, allowed);
    if (progress && *progress > 0) return progress;
    use->lease = nullptr;
    const bool goes_on = std::exchange(use->is_stale, false) && ++use->stale_helpers < max_stale_helpers;
    return goes_on ? Result<size_t>(FileJobs::kThroughGate) : progress;
  };
}

}  // namespace holdfast::exec_server
