#include "exec_server/sandboxed_files.h"

#include <utility>

namespace holdfast::exec_server {

FileJobs::Gate HelperUse::Gate(FileHelpers& helpers, const std::string& session_id, const SandboxSpec& sandbox) {
  return [&helpers, session_id, sandbox, place = lease_](FileJobs::Begin begin) {
    helpers.Acquire(session_id, sandbox, [place, begin = std::move(begin)](Result<FileHelpers::Lease> lease) mutable {
      if (!lease) return begin(std::unexpected(std::move(lease).error()));
      *place = *std::move(lease);
      begin({});
    });
  };
}

FileJobs::Step HelperUse::Call(std::string_view operation, std::string params_json) {
  return [place = lease_, operation = std::string(operation), params = std::move(params_json)](
             std::string& json, size_t) -> Result<size_t> {
    TRY_VOID((*place)->Call(operation, params, json));
    return 0;
  };
}

std::move_only_function<Result<fs::File>()> HelperUse::Opener(wire::FsOpenFileParams params) {
  return [place = lease_, params = std::move(params)]() mutable -> Result<fs::File> {
    const FileHelpers::Lease lease = std::exchange(*place, nullptr);  // what follows needs the file alone
    return lease->Open(params);
  };
}

}  // namespace holdfast::exec_server
