#include "exec_server/fs_service.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/file_uri.h"
#include "exec_server/file_reader.h"
#include "exec_server/fs_path.h"
#include "fs/copy.h"
#include "fs/directory.h"
#include "fs/metadata.h"
#include "fs/remove.h"
#include "fs/rename.h"
#include "fs/walk.h"
#include "fs/write_file.h"

namespace holdfast::exec_server {
namespace {

constexpr size_t kSmallFileBytes = 32 << 10;
constexpr size_t kMaxDirectoryEntries = 50'000;
constexpr fs::WalkOptions kWalkCeiling{
    .max_depth = 64, .max_directories = 10'000, .max_entries = 50'000, .max_path_bytes = 4 << 20};

fs::Symlinks SymlinksOf(const std::optional<bool>& follow) {
  return follow.value_or(true) ? fs::Symlinks::kFollow : fs::Symlinks::kRefuse;
}

// With room for the rest of the message, a request id of some length included.
size_t LongestFileIn(size_t message_bytes) {
  constexpr size_t envelope_bytes = 4096;
  return message_bytes < envelope_bytes ? 0 : (message_bytes - envelope_bytes) / 4 * 3;
}

wire::FsGetMetadataResult OnWire(const fs::Metadata& metadata) {
  return {.is_directory = metadata.is_directory,
          .is_file = metadata.is_file,
          .is_symlink = metadata.is_symlink,
          .size = metadata.size,
          .created_at_ms = metadata.created_at_ms,
          .modified_at_ms = metadata.modified_at_ms};
}

// What a call that returns nothing answers.
auto AnsweringEmpty(auto call) {
  return [call = std::move(call)]() mutable -> Result<wire::Empty> {
    TRY_VOID(call());
    return wire::Empty{};
  };
}

Result<std::optional<std::string>> CheckDigest(const std::optional<std::string>& digest) {
  auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!digest || (digest->size() == 64 && std::ranges::all_of(*digest, is_hex))) return digest;
  return Fail(ErrorKind::kInvalidParams, "expectedSha256: expected 64 lower-case hex digits");
}

Result<fs::WalkOptions> CheckWalk(const wire::FsWalkOptions& asked) {
  fs::WalkOptions options{.max_depth = asked.max_depth,
                          .max_directories = asked.max_directories,
                          .max_entries = asked.max_entries,
                          .max_path_bytes = kWalkCeiling.max_path_bytes,
                          .follow_directory_links = asked.follow_directory_symlinks,
                          .prune_hidden_directories = asked.prune_hidden_directories.value_or(false)};
  if (options.max_directories == 0 || options.max_entries == 0) {
    return Fail(ErrorKind::kInvalidRequest, "options: maxDirectories and maxEntries must be at least 1");
  }
  const fs::WalkOptions& ceiling = kWalkCeiling;
  if (options.max_depth > ceiling.max_depth || options.max_directories > ceiling.max_directories ||
      options.max_entries > ceiling.max_entries) {
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("options: at most maxDepth {}, maxDirectories {}, maxEntries {}", ceiling.max_depth,
                            ceiling.max_directories, ceiling.max_entries));
  }
  return options;
}

wire::FsWalkResult OnWire(fs::WalkResult walked) {
  wire::FsWalkResult result;
  result.truncated = walked.truncated;
  for (const fs::WalkEntry& entry : walked.entries) {
    result.entries.push_back(
        {FileUri(entry.path), entry.is_directory ? wire::WalkedKind::kDirectory : wire::WalkedKind::kFile});
  }
  for (fs::WalkError& error : walked.errors) {
    result.errors.push_back({FileUri(error.path), std::move(error.message)});
  }
  return result;
}

}  // namespace

// What the kernel has in memory is answered without a worker, if it is small: two wake-ups cost more than the read.
void FsService::ReadFile(Session& session, const wire::FsFollowParams& params,
                         rpc::Reply<wire::FsReadFileResult> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  const fs::Symlinks symlinks = SymlinksOf(params.follow_symlinks);
  const size_t max_bytes = std::min<size_t>(runtime_.config.max_read_file_bytes,
                                            LongestFileIn(session.attachment()->client().max_message_bytes));
  Claim claim{*path, Access::kRead};
  if (session.attachment()->order().IsFree(claim)) {
    const auto bytes = cached_files_.Read(*path, symlinks, std::min(max_bytes, kSmallFileBytes));
    if (bytes) return reply({{*bytes}});
  }
  jobs_.RunSteps(session, {std::move(claim)}, FileReader(*path, symlinks, max_bytes), std::move(reply).Untyped());
}

void FsService::WriteFile(Session& session, const wire::FsWriteFileParams& params, rpc::Reply<wire::Empty> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  auto digest = CheckDigest(params.expected_sha256);
  if (!digest) return reply.Fail(digest.error());
  auto bytes = Base64Decode(params.data_base64);
  if (!bytes) return reply.Fail({ErrorKind::kInvalidRequest, "dataBase64: " + bytes.error().message});
  fs::WriteOptions options{
      .symlinks = SymlinksOf(params.follow_symlinks),
      .replacement = params.atomic.value_or(false) ? fs::Replacement::kAtomic : fs::Replacement::kInPlace,
      .expected_sha256 = *std::move(digest)};
  auto write = [path = *path, bytes = *std::move(bytes), options = std::move(options)] {
    return fs::WriteFile(path, std::as_bytes(std::span(bytes)), options);
  };
  jobs_.Run<wire::Empty>(session, {{*path, Access::kWrite}}, AnsweringEmpty(std::move(write)), std::move(reply));
}

void FsService::CreateDirectory(Session& session, const wire::FsCreateDirectoryParams& params,
                                rpc::Reply<wire::Empty> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  const auto parents = params.recursive.value_or(true) ? fs::Parents::kCreate : fs::Parents::kMustExist;
  auto create = [path = *path, parents, symlinks = SymlinksOf(params.follow_symlinks)] {
    return fs::CreateDirectory(path, parents, symlinks);
  };
  jobs_.Run<wire::Empty>(session, {{*path, Access::kWrite}}, AnsweringEmpty(std::move(create)), std::move(reply));
}

// Clients look for many files that are not there: what the kernel knows by heart is answered without a worker.
void FsService::GetMetadata(Session& session, const wire::FsFollowParams& params,
                            rpc::Reply<wire::FsGetMetadataResult> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  const fs::Symlinks symlinks = SymlinksOf(params.follow_symlinks);
  Claim claim{*path, Access::kRead};
  if (session.attachment()->order().IsFree(claim)) {
    if (auto cached = fs::GetCachedMetadata(*path, symlinks)) {
      return *cached ? reply(OnWire(**cached)) : reply.Fail(cached->error());
    }
  }
  auto get = [path = *path, symlinks]() -> Result<wire::FsGetMetadataResult> {
    TRY(fs::Metadata metadata, fs::GetMetadata(path, symlinks));
    return OnWire(metadata);
  };
  jobs_.Run<wire::FsGetMetadataResult>(session, {std::move(claim)}, std::move(get), std::move(reply));
}

void FsService::Canonicalize(Session& session, const wire::FsPathParams& params,
                             rpc::Reply<wire::FsCanonicalizeResult> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  auto canonicalize = [path = *path]() -> Result<wire::FsCanonicalizeResult> {
    TRY(std::string canonical, fs::Canonicalize(path));
    return wire::FsCanonicalizeResult{FileUri(canonical)};
  };
  jobs_.Run<wire::FsCanonicalizeResult>(session, {{*path, Access::kRead}}, std::move(canonicalize), std::move(reply));
}

void FsService::ReadDirectory(Session& session, const wire::FsPathParams& params,
                              rpc::Reply<wire::FsReadDirectoryResult> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  auto read = [path = *path]() -> Result<wire::FsReadDirectoryResult> {
    TRY(std::vector<fs::DirectoryEntry> entries, fs::ReadDirectory(path, kMaxDirectoryEntries));
    wire::FsReadDirectoryResult result;
    result.entries.reserve(entries.size());
    for (fs::DirectoryEntry& entry : entries) {
      result.entries.push_back({std::move(entry.name), entry.is_directory, entry.is_file});
    }
    return result;
  };
  jobs_.Run<wire::FsReadDirectoryResult>(session, {{*path, Access::kRead}}, std::move(read), std::move(reply));
}

void FsService::Remove(Session& session, const wire::FsRemoveParams& params, rpc::Reply<wire::Empty> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  fs::RemoveOptions options;
  options.depth = params.recursive.value_or(true) ? fs::Depth::kTree : fs::Depth::kSingle;
  options.absence = params.force.value_or(true) ? fs::Absence::kIsFine : fs::Absence::kIsError;
  options.symlinks = SymlinksOf(params.follow_symlinks);
  if (options.depth == fs::Depth::kTree && options.symlinks == fs::Symlinks::kRefuse) {
    return reply.Fail({ErrorKind::kSystem, "followSymlinks: false is not for recursive removals"});
  }
  auto remove = [path = *path, options] { return fs::Remove(path, options); };
  jobs_.Run<wire::Empty>(session, {{*path, Access::kWrite}}, AnsweringEmpty(std::move(remove)), std::move(reply));
}

void FsService::Copy(Session& session, const wire::FsCopyParams& params, rpc::Reply<wire::Empty> reply) {
  auto source = ResolvePath(params.source_path, params.sandbox);
  if (!source) return reply.Fail(source.error());
  auto destination = ResolvePath(params.destination_path, params.sandbox);
  if (!destination) return reply.Fail(destination.error());
  auto copy = [source = *source, destination = *destination,
               depth = params.recursive ? fs::Depth::kTree : fs::Depth::kSingle] {
    return fs::Copy(source, destination, depth);
  };
  jobs_.Run<wire::Empty>(session, {{*source, Access::kRead}, {*destination, Access::kWrite}},
                         AnsweringEmpty(std::move(copy)), std::move(reply));
}

void FsService::Rename(Session& session, const wire::FsRenameParams& params, rpc::Reply<wire::Empty> reply) {
  auto source = ResolvePath(params.source_path, params.sandbox);
  if (!source) return reply.Fail(source.error());
  auto destination = ResolvePath(params.destination_path, params.sandbox);
  if (!destination) return reply.Fail(destination.error());
  auto rename = [source = *source, destination = *destination,
                 existing = params.replace.value_or(true) ? fs::Existing::kReplace : fs::Existing::kKeep] {
    return fs::Rename(source, destination, existing);
  };
  jobs_.Run<wire::Empty>(session, {{*source, Access::kWrite}, {*destination, Access::kWrite}},
                         AnsweringEmpty(std::move(rename)), std::move(reply));
}

void FsService::Walk(Session& session, const wire::FsWalkParams& params, rpc::Reply<wire::FsWalkResult> reply) {
  auto path = ResolvePath(params.path, params.sandbox);
  if (!path) return reply.Fail(path.error());
  auto options = CheckWalk(params.options);
  if (!options) return reply.Fail(options.error());
  auto walk = [path = *path, options = *options]() -> Result<wire::FsWalkResult> {
    TRY(fs::WalkResult walked, fs::Walk(path, options));
    return OnWire(std::move(walked));
  };
  jobs_.Run<wire::FsWalkResult>(session, {{*path, Access::kRead}}, std::move(walk), std::move(reply));
}

}  // namespace holdfast::exec_server
