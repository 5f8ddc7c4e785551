// An operation is the work of an fs/* method that needs one step. The server runs it itself, or a file helper runs it
// inside a sandbox. The functions here prepare an operation from the params of the request; they only check the params.
// Running the operation touches files, and may block.
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

}  // namespace holdfast::files
