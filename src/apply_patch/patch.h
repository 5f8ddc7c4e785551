// A patch as a value. Its strings are views of the text that it was parsed from.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::apply_patch {

enum class LineKind { kContext, kRemoved, kAdded };

struct PatchLine {
  LineKind kind;
  std::string_view text;

  bool is_old() const { return kind != LineKind::kAdded; }
  bool is_new() const { return kind != LineKind::kRemoved; }
  friend bool operator==(const PatchLine&, const PatchLine&) = default;
};

// A change of consecutive lines of a file.
struct Chunk {
  size_t line_number = 0;                  // the line of the patch at which the chunk begins, for messages
  std::optional<std::string_view> header;  // a line of the file that comes somewhere before the chunk
  std::vector<PatchLine> lines;            // never empty
  bool at_end_of_file = false;
};

struct AddFile {
  std::string_view path;
  std::string content;
};

struct DeleteFile {
  std::string_view path;
};

struct UpdateFile {
  std::string_view path;
  std::optional<std::string_view> move_to;
  std::vector<Chunk> chunks;  // never empty
};

using Operation = std::variant<AddFile, DeleteFile, UpdateFile>;

struct Patch {
  std::vector<Operation> operations;  // never empty
};

}  // namespace holdfast::apply_patch
