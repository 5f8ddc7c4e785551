// The files of skills and plugins may come from anybody. Whatever they contain, a skill has a description on one line,
// a tool a type and a value, and a manifest names no file outside of its plugin.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/paths.h"
#include "skills/front_matter.h"
#include "skills/plugin.h"
#include "skills/skill_metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace holdfast::skills;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);

  const size_t length = FrontMatterLength(text);
  CHECK(length <= size);
  const auto head = ReadFrontMatter(text);
  if (head) CHECK(length > 0 && !head->description.empty() && !head->description.contains('\n'));
  if (!head) CHECK(!head.error().message.empty());

  const SkillMetadata metadata = ReadSkillMetadata(text);
  if (metadata.dependencies) {
    CHECK(!metadata.dependencies->tools.empty());
    for (const auto& tool : metadata.dependencies->tools) CHECK(!tool.type.empty() && !tool.value.empty());
  }

  const auto manifest = ReadPluginManifest(text);
  if (manifest && manifest->display_name) CHECK(!manifest->display_name->empty());
  const ManifestFile file = FileNamedBy(text, "mcpServers", "default");
  CHECK(!file.relative_path.starts_with('/'));
  for (const std::string_view name : holdfast::NamesIn(file.relative_path)) CHECK(name != "..");
  return 0;
}
