#include "cli/files/tree.h"

#include <sys/stat.h>

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file_time.h"
#include "cli/connect/server_path.h"

namespace holdfast::cli {
namespace {

namespace fs = std::filesystem;

void AddFile(Tree& tree, TreeFile file) {
  tree.bytes += file.size;
  tree.files.push_back(std::move(file));
}

// Describes the file of this machine that has the path `below` in its tree.
Result<TreeFile> LocalFile(const std::string& path, std::string below) {
  struct stat status{};
  if (::stat(path.c_str(), &status) < 0) return FailErrno("stat", path);
  return TreeFile{.path = std::move(below),
                  .size = static_cast<uint64_t>(status.st_size),
                  .modified_at_ms = FileTimeMs(status.st_mtim),
                  .permissions = status.st_mode & 0777};
}

TreeFile RemoteFile(const wire::FsGetMetadataResult& metadata, std::string below) {
  return {.path = std::move(below),
          .size = metadata.size,
          .modified_at_ms = metadata.modified_at_ms,
          .permissions = metadata.permissions};
}

Result<> AddEntry(Tree& tree, const fs::path& root, const fs::directory_entry& entry) {
  std::error_code error;
  std::string path = entry.path().lexically_relative(root).string();
  const bool is_link = entry.is_symlink(error);
  if (entry.is_directory(error) && !is_link) {
    tree.directories.push_back(std::move(path));
  } else if (entry.is_regular_file(error)) {
    TRY(TreeFile file, LocalFile(entry.path().string(), std::move(path)));
    AddFile(tree, std::move(file));
  } else {
    tree.skipped.push_back(std::move(path));
  }
  return {};
}

// A name is joined to a local path, so one that is more than a name would lead out of the destination.
Result<> CheckNames(const client::Files::Entries& entries, const std::string& directory) {
  for (const wire::FsDirectoryEntry& entry : entries) {
    const std::string_view name = entry.file_name;
    const bool leads_elsewhere = name.empty() || name == "." || name == "..";
    if (!leads_elsewhere && name.find_first_of(std::string_view("/\0", 2)) == std::string_view::npos) continue;
    return Fail(ErrorKind::kInvalidRequest,
                fmt::format("the server lists \"{}\" in {}, which is not the name of a file", name, directory));
  }
  return {};
}

}  // namespace

Result<Tree> ListLocal(const std::string& root) {
  std::error_code error;
  const fs::file_status status = fs::status(root, error);
  if (error) return FailErrno("stat", root, error.value());
  Tree tree;
  if (fs::is_regular_file(status)) {
    TRY(TreeFile file, LocalFile(root, ""));
    AddFile(tree, std::move(file));
    return tree;
  }
  if (!fs::is_directory(status)) return Fail(ErrorKind::kInvalidParams, root + " is neither a file nor a directory");
  tree.is_directory = true;
  for (auto it = fs::recursive_directory_iterator(root, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    TRY_VOID(AddEntry(tree, root, *it));
  }
  if (error) return FailErrno("read", root, error.value());
  return tree;
}

loop::Task<Result<Tree>> ListRemote(client::Files files, std::string root) {
  auto metadata = co_await files.Metadata(root);
  if (!metadata) co_return std::unexpected(std::move(metadata).error());
  Tree tree;
  tree.is_directory = metadata->is_directory;
  if (!metadata->is_directory) {
    AddFile(tree, RemoteFile(*metadata, ""));
    co_return std::move(tree);
  }
  // The list grows while it is walked: each directory adds those in it.
  std::vector<std::string> directories = {""};
  for (size_t i = 0; i < directories.size(); ++i) {
    const std::string below = directories[i];
    const std::string directory = JoinedPath(root, below);
    auto entries = co_await files.List(directory);
    if (!entries) co_return std::unexpected(std::move(entries).error());
    if (auto names = CheckNames(*entries, directory); !names) co_return std::unexpected(std::move(names).error());
    for (const wire::FsDirectoryEntry& entry : *entries) {
      std::string path = below.empty() ? entry.file_name : below + "/" + entry.file_name;
      if (entry.is_directory) {
        directories.push_back(std::move(path));
      } else if (entry.is_file) {
        auto file = co_await files.Metadata(JoinedPath(root, path));
        if (!file) co_return std::unexpected(std::move(file).error());
        AddFile(tree, RemoteFile(*file, std::move(path)));
      } else {
        tree.skipped.push_back(std::move(path));
      }
    }
  }
  tree.directories.assign(directories.begin() + 1, directories.end());
  co_return std::move(tree);
}

}  // namespace holdfast::cli
