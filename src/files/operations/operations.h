// The fs/* methods that are done in one go, prepared from their params: run by the server itself, or by the file helper
// inside a sandbox. Preparing only looks at the params; running touches files, and may block.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "files/disk/file.h"
#include "files/disk/guarded_names.h"
#include "files/disk/metadata.h"
#include "files/disk/symlinks.h"
#include "files/operations/claim.h"
#include "wire/field_types.h"
#include "wire/fs_handle_messages.h"
#include "wire/fs_messages.h"
#include "wire/fs_tree_messages.h"

namespace holdfast::files {

template <typename T>
struct Operation {
  std::vector<Claim> claims;
  // It owns what it needs, but for the names that must stay guarded.
  std::move_only_function<Result<T>(const GuardedNames& guarded)> run;

  // What to call where no policy protects anything.
  std::move_only_function<Result<T>()> TakeUnguarded() {
    return [run = std::move(run)]() mutable { return run(GuardedNames()); };
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

// The file behind fs/open and fs/readFile.
Result<Operation<File>> PrepareOpen(const wire::FsOpenFileParams& params);

Symlinks SymlinksOf(const std::optional<bool>& follow);
wire::FsGetMetadataResult ToWire(const Metadata& metadata);

}  // namespace holdfast::files
