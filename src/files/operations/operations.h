// An operation is the work of an fs/* method that needs one step. The server runs it itself, or a file helper runs it
// inside a sandbox. The functions here prepare an operation from the params of the request; they only check the params.
// Running the operation touches files, and may block.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "files/capabilities/installed.h"
#include "files/disk/file.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"
#include "wire/capability_messages.h"
#include "wire/field_types.h"
#include "wire/fs_handle_messages.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"

namespace holdfast::files {

// A claim is a path that a file operation reads or writes. Operations with claims that collide are kept in order.
enum class Access { kRead, kWrite };

struct Claim {
  std::string path;
  Access access;
};

template <typename T>
struct Operation {
  std::vector<Claim> claims;
  // The function owns everything that it needs, except the guarded names, which it must not change.
  std::move_only_function<Result<T>(const GuardedNames& guarded)> run;

  // Returns the function for use without a sandbox, where no names are guarded.
  std::move_only_function<Result<T>()> TakeUnguarded() {
    return [run = std::move(run)]() mutable { return run(kNothingGuarded); };
  }
};

Result<Operation<wire::Empty>> PrepareWriteFile(const wire::FsWriteFileParams& params);
Result<Operation<wire::Empty>> PrepareCreateDirectory(const wire::FsCreateDirectoryParams& params);
Result<Operation<wire::FsGetMetadataResult>> PrepareGetMetadata(const wire::FsFollowParams& params);
Result<Operation<wire::FsCanonicalizeResult>> PrepareCanonicalize(const wire::FsPathParams& params);
Result<Operation<wire::FsReadDirectoryResult>> PrepareReadDirectory(const wire::FsPathParams& params);
Result<Operation<wire::Empty>> PrepareRemove(const wire::FsRemoveParams& params);
Result<Operation<wire::Empty>> PrepareCopy(const wire::FsCopyParams& params);
Result<Operation<wire::Empty>> PrepareRename(const wire::FsRenameParams& params);
Result<Operation<wire::FsWalkResult>> PrepareWalk(const wire::FsWalkParams& params);

// Prepares the opening of a file, for fs/open and fs/readFile.
Result<Operation<File>> PrepareOpen(const wire::FsOpenFileParams& params);

Symlinks SymlinksOf(const std::optional<bool>& follow);
wire::FsGetMetadataResult ToWire(const Metadata& metadata);

// The operations behind capabilityRoots/discoverV1 and capabilities/discoverV2.
struct ScanRootParams : wire::CapabilityRoot {
  uint64_t max_bytes = 0;  // of the result

  void Fields(auto& f) {
    CapabilityRoot::Fields(f);
    f.Required("maxBytes", max_bytes);
  }
};

Result<Operation<wire::DiscoveredRoot>> PrepareScanRoot(const ScanRootParams& params);
Result<Operation<Installed>> PrepareFindInstalled(const InstalledPlaces& params);

}  // namespace holdfast::files
