#include "files/operations/operations.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/file_uri.h"
#include "files/capabilities/capability_reader.h"
#include "files/capabilities/scan_root.h"
#include "files/disk/copy.h"
#include "files/disk/directory.h"
#include "files/disk/metadata.h"
#include "files/disk/remove.h"
#include "files/disk/rename.h"
#include "files/disk/walk.h"
#include "files/disk/write_file.h"

namespace holdfast::files {
namespace {

constexpr size_t kMaxDirectoryEntries = 50'000;
constexpr WalkOptions kWalkCeiling{
    .max_depth = 64, .max_directories = 10'000, .max_entries = 50'000, .max_path_bytes = 4 << 20};

// Wraps a call that has no result, so that it returns the empty result of the protocol.
auto AnsweringEmpty(auto call) {
  return [call = std::move(call)](const GuardedNames& guarded) mutable -> Result<wire::Empty> {
    TRY_VOID(call(guarded));
    return wire::Empty{};
  };
}

Result<std::optional<std::string>> CheckDigest(const std::optional<std::string>& digest) {
  auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!digest || (digest->size() == 64 && std::ranges::all_of(*digest, is_hex))) return digest;
  return Fail(ErrorKind::kInvalidParams, "expectedSha256: expected 64 lower-case hex digits");
}

Result<WalkOptions> CheckWalk(const wire::FsWalkOptions& asked) {
  WalkOptions options{.max_depth = asked.max_depth,
                      .max_directories = asked.max_directories,
                      .max_entries = asked.max_entries,
                      .max_path_bytes = kWalkCeiling.max_path_bytes,
                      .follow_directory_links = asked.follow_directory_symlinks,
                      .prune_hidden_directories = asked.prune_hidden_directories.value_or(false)};
  if (options.max_directories == 0 || options.max_entries == 0) {
    return Fail(ErrorKind::kInvalidRequest, "options: maxDirectories and maxEntries must be at least 1");
  }
  const WalkOptions& ceiling = kWalkCeiling;
  if (options.max_depth > ceiling.max_depth || options.max_directories > ceiling.max_directories ||
      options.max_entries > ceiling.max_entries) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("options: at most maxDepth {}, maxDirectories {}, maxEntries {}", ceiling.max_depth,
                            ceiling.max_directories, ceiling.max_entries));
  }
  return options;
}

wire::FsWalkResult ToWire(WalkResult walked) {
  wire::FsWalkResult result;
  result.truncated = walked.truncated;
  for (const WalkEntry& entry : walked.entries) {
    result.entries.push_back(
        {FileUri(entry.path), entry.is_directory ? wire::WalkedKind::kDirectory : wire::WalkedKind::kFile});
  }
  for (WalkError& error : walked.errors) {
    result.errors.push_back({FileUri(error.path), std::move(error.message)});
  }
  return result;
}

wire::FsOpenMode ModeOf(const wire::FsOpenFileParams& params) { return params.mode.value_or(wire::FsOpenMode::kRead); }

Result<> CheckAttributes(const wire::FsOpenFileParams& params) {
  if (params.permissions.value_or(0) > 0777) {
    return Fail(ErrorKind::kInvalidParams, "permissions: must be at most 511, which is 0777");
  }
  if (params.size && ModeOf(params) != wire::FsOpenMode::kUpdate) {
    return Fail(ErrorKind::kInvalidParams, "size: is for the mode update only");
  }
  if (ModeOf(params) == wire::FsOpenMode::kRead && (params.permissions || params.modified_at_ms)) {
    return Fail(ErrorKind::kInvalidParams, "permissions and modifiedAtMs are for files that are opened for writing");
  }
  return {};
}

// The permissions are set before the client can write anything, so that other users never read what the permissions
// keep from them.
Result<File> OpenToChange(const std::string& path, Symlinks symlinks, const wire::FsOpenFileParams& params,
                          const GuardedNames& guarded) {
  const auto mode = static_cast<mode_t>(params.permissions.value_or(File::kUsualMode));
  TRY(File file, File::OpenForWriting(path, symlinks, guarded, mode));
  const std::optional<uint64_t> size = ModeOf(params) == wire::FsOpenMode::kReplace ? 0 : params.size;
  if (size.value_or(0) > file.size()) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("path {}: has only {} of {} bytes", path, file.size(), size.value_or(0)));
  }
  if (size) TRY_VOID(file.Truncate(*size));
  if (params.permissions) TRY_VOID(file.SetPermissions(mode));
  if (params.modified_at_ms) TRY_VOID(file.SetModifiedAt(*params.modified_at_ms));
  return file;
}

}  // namespace

Symlinks SymlinksOf(const std::optional<bool>& follow) {
  return follow.value_or(true) ? Symlinks::kFollow : Symlinks::kRefuse;
}

wire::FsGetMetadataResult ToWire(const Metadata& metadata) {
  return {.is_directory = metadata.is_directory,
          .is_file = metadata.is_file,
          .is_symlink = metadata.is_symlink,
          .size = metadata.size,
          .created_at_ms = metadata.created_at_ms,
          .modified_at_ms = metadata.modified_at_ms,
          .permissions = metadata.permissions};
}

Result<Operation<wire::Empty>> PrepareWriteFile(const wire::FsWriteFileParams& params) {
  TRY(std::string path, ParsePath(params.path));
  TRY(std::optional<std::string> digest, CheckDigest(params.expected_sha256));
  auto bytes = Base64Decode(params.data_base64);
  if (!bytes) return Fail(ErrorKind::kInvalidRequest, "dataBase64: " + bytes.error().message);
  WriteOptions options{.symlinks = SymlinksOf(params.follow_symlinks),
                       .replacement = params.atomic.value_or(false) ? Replacement::kAtomic : Replacement::kInPlace,
                       .expected_sha256 = std::move(digest)};
  auto write = [path, bytes = *std::move(bytes), options = std::move(options)](const GuardedNames& guarded) {
    return WriteFile(path, std::as_bytes(std::span(bytes)), options, guarded);
  };
  return Operation<wire::Empty>{{{path, Access::kWrite}}, AnsweringEmpty(std::move(write))};
}

Result<Operation<wire::Empty>> PrepareCreateDirectory(const wire::FsCreateDirectoryParams& params) {
  TRY(std::string path, ParsePath(params.path));
  const auto parents = params.recursive.value_or(true) ? Parents::kCreate : Parents::kMustExist;
  auto create = [path, parents, symlinks = SymlinksOf(params.follow_symlinks)](const GuardedNames& guarded) {
    return CreateDirectory(path, parents, symlinks, guarded);
  };
  return Operation<wire::Empty>{{{path, Access::kWrite}}, AnsweringEmpty(std::move(create))};
}

Result<Operation<wire::FsGetMetadataResult>> PrepareGetMetadata(const wire::FsFollowParams& params) {
  TRY(std::string path, ParsePath(params.path));
  auto get = [path,
              symlinks = SymlinksOf(params.follow_symlinks)](const GuardedNames&) -> Result<wire::FsGetMetadataResult> {
    TRY(Metadata metadata, GetMetadata(path, symlinks));
    return ToWire(metadata);
  };
  return Operation<wire::FsGetMetadataResult>{{{path, Access::kRead}}, std::move(get)};
}

Result<Operation<wire::FsCanonicalizeResult>> PrepareCanonicalize(const wire::FsPathParams& params) {
  TRY(std::string path, ParsePath(params.path));
  auto canonicalize = [path](const GuardedNames&) -> Result<wire::FsCanonicalizeResult> {
    TRY(std::string canonical, Canonicalize(path));
    return wire::FsCanonicalizeResult{FileUri(canonical)};
  };
  return Operation<wire::FsCanonicalizeResult>{{{path, Access::kRead}}, std::move(canonicalize)};
}

Result<Operation<wire::FsReadDirectoryResult>> PrepareReadDirectory(const wire::FsPathParams& params) {
  TRY(std::string path, ParsePath(params.path));
  auto read = [path](const GuardedNames&) -> Result<wire::FsReadDirectoryResult> {
    TRY(std::vector<DirectoryEntry> entries, ReadDirectory(path, kMaxDirectoryEntries));
    wire::FsReadDirectoryResult result;
    result.entries.reserve(entries.size());
    for (DirectoryEntry& entry : entries) {
      result.entries.push_back({std::move(entry.name), entry.is_directory, entry.is_file});
    }
    return result;
  };
  return Operation<wire::FsReadDirectoryResult>{{{path, Access::kRead}}, std::move(read)};
}

Result<Operation<wire::Empty>> PrepareRemove(const wire::FsRemoveParams& params) {
  TRY(std::string path, ParsePath(params.path));
  RemoveOptions options;
  options.depth = params.recursive.value_or(true) ? Depth::kTree : Depth::kSingle;
  options.absence = params.force.value_or(true) ? Absence::kIsFine : Absence::kIsError;
  options.symlinks = SymlinksOf(params.follow_symlinks);
  if (options.depth == Depth::kTree && options.symlinks == Symlinks::kRefuse) {
    return Fail(ErrorKind::kSystem, "followSymlinks: must not be false for a recursive removal");
  }
  auto remove = [path, options](const GuardedNames& guarded) { return Remove(path, options, guarded); };
  return Operation<wire::Empty>{{{path, Access::kWrite}}, AnsweringEmpty(std::move(remove))};
}

Result<Operation<wire::Empty>> PrepareCopy(const wire::FsCopyParams& params) {
  TRY(std::string source, ParsePath(params.source_path));
  TRY(std::string destination, ParsePath(params.destination_path));
  auto copy = [source, destination, depth = params.recursive ? Depth::kTree : Depth::kSingle](
                  const GuardedNames& guarded) { return Copy(source, destination, depth, guarded); };
  return Operation<wire::Empty>{{{source, Access::kRead}, {destination, Access::kWrite}},
                                AnsweringEmpty(std::move(copy))};
}

Result<Operation<wire::Empty>> PrepareRename(const wire::FsRenameParams& params) {
  TRY(std::string source, ParsePath(params.source_path));
  TRY(std::string destination, ParsePath(params.destination_path));
  auto rename = [source, destination, existing = params.replace.value_or(true) ? Existing::kReplace : Existing::kKeep](
                    const GuardedNames& guarded) { return Rename(source, destination, existing, guarded); };
  return Operation<wire::Empty>{{{source, Access::kWrite}, {destination, Access::kWrite}},
                                AnsweringEmpty(std::move(rename))};
}

Result<Operation<wire::FsWalkResult>> PrepareWalk(const wire::FsWalkParams& params) {
  TRY(std::string path, ParsePath(params.path));
  TRY(WalkOptions options, CheckWalk(params.options));
  auto walk = [path, options](const GuardedNames&) -> Result<wire::FsWalkResult> {
    TRY(WalkResult walked, Walk(path, options));
    return ToWire(std::move(walked));
  };
  return Operation<wire::FsWalkResult>{{{path, Access::kRead}}, std::move(walk)};
}

Result<Operation<File>> PrepareOpen(const wire::FsOpenFileParams& params) {
  TRY(std::string path, ParsePath(params.path));
  TRY_VOID(CheckAttributes(params));
  const Symlinks symlinks = SymlinksOf(params.follow_symlinks);
  if (ModeOf(params) == wire::FsOpenMode::kRead) {
    auto open = [path, symlinks](const GuardedNames&) { return File::OpenForReading(path, symlinks); };
    return Operation<File>{{{path, Access::kRead}}, std::move(open)};
  }
  auto open = [path, symlinks, params](const GuardedNames& guarded) {
    return OpenToChange(path, symlinks, params, guarded);
  };
  return Operation<File>{{{path, Access::kWrite}}, std::move(open)};
}

Result<Operation<wire::DiscoveredRoot>> PrepareScanRoot(const ScanRootParams& params) {
  TRY(std::string path, ParsePath(params.path));
  ScanRoom room;
  room.bytes = std::min<size_t>(room.bytes, params.max_bytes);
  auto scan = [id = params.id, path, room](const GuardedNames&) mutable -> Result<wire::DiscoveredRoot> {
    return ScanCapabilityRoot(std::move(id), path, room, CapabilityReader::Part::kWhole);
  };
  return Operation<wire::DiscoveredRoot>{{{path, Access::kRead}}, std::move(scan)};
}

Result<Operation<Installed>> PrepareFindInstalled(const InstalledPlaces& params) {
  auto find = [params](const GuardedNames&) -> Result<Installed> { return FindInstalled(params); };
  return Operation<Installed>{{}, std::move(find)};
}

}  // namespace holdfast::files
