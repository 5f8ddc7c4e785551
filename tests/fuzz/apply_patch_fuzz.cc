// A file up to the first NUL, then a patch. Any bytes are parsed or refused with a reason; what is parsed can be
// applied to the file or refused with a reason. The search for lines finds what a plain one finds, and a file that was
// changed ends at the end of a line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "../apply_patch/plain_search.h"
#include "apply_patch/line_search.h"
#include "apply_patch/match.h"
#include "apply_patch/parse.h"
#include "base/check.h"
#include "base/utf8.h"

namespace {

using namespace holdfast;
using namespace holdfast::apply_patch;

void Search(const FileLines& file, const UpdateFile& update) {
  LineSearch search(file.texts());
  size_t from = 0;
  for (const Chunk& chunk : update.chunks) {
    std::vector<std::string_view> wanted;
    for (const PatchLine& line : chunk.lines) wanted.push_back(line.text);
    const auto found = search.Find(wanted, from);
    CHECK(found == PlainFind(file.texts(), wanted, from));
    if (found) from = *found + wanted.size();
  }
}

void Use(std::string_view content, const UpdateFile& update) {
  CHECK(!update.path.empty() && !update.chunks.empty());
  for (const Chunk& chunk : update.chunks) CHECK(!chunk.lines.empty());
  if (!IsUtf8(content)) return;
  Search(FileLines(content), update);
  const auto applied = ApplyChunks(content, update.chunks);
  if (!applied) return CHECK(!applied.error().message.empty());
  CHECK(applied->empty() || applied->ends_with('\n') || applied->ends_with('\r'));
  CHECK(IsUtf8(*applied));
}

void Use(std::string_view, const AddFile& add) { CHECK(add.content.empty() || add.content.ends_with('\n')); }
void Use(std::string_view, const DeleteFile& remove) { CHECK(!remove.path.empty() && !remove.path.contains('\0')); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::string_view content = input.substr(0, input.find('\0'));
  const auto patch = ParsePatch(input.substr(std::min(content.size() + 1, input.size())));
  if (!patch) {
    CHECK(!patch.error().message.empty());
    return 0;
  }
  CHECK(!patch->operations.empty());
  for (const Operation& operation : patch->operations) {
    std::visit([content](const auto& one) { Use(content, one); }, operation);
  }
  return 0;
}
