#include <string_view>
#include <variant>

#include "base/file_uri.h"
#include "sandbox/policy/permission_profile.h"
#include "sandbox/policy/profile_spelling.h"
#include "wire/encode.h"

namespace holdfast::sandbox {
namespace {

// Appends the member "NAME":"VALUE" to the JSON object that `out` ends with.
void Member(std::string& out, std::string_view name, std::string_view value) {
  out += out.ends_with('{') ? "" : ",";
  wire::AppendString(out, name);
  out += ':';
  wire::AppendString(out, value);
}

struct LocationText {
  std::string& out;

  void operator()(const AbsolutePath& path) const {
    Member(out, "type", "path");
    Member(out, "path", FileUri(path.text));  // a URI can encode bytes that are not UTF-8
  }
  void operator()(const Pattern& pattern) const {
    Member(out, "type", "glob_pattern");
    Member(out, "pattern", pattern.text);
  }
  void operator()(const Place& place) const {
    Member(out, "type", "special");
    out += R"(,"value":{)";
    Member(out, "kind", NameFor(place.kind));
    if (!place.subpath.empty()) Member(out, "subpath", place.subpath);
    if (place.kind == PlaceKind::kUnknown) Member(out, "path", "");
    out += '}';
  }
};

void AppendEntry(std::string& out, const Entry& entry) {
  out += R"({"path":{)";
  std::visit(LocationText{out}, entry.where);
  out += '}';
  Member(out, "access", NameFor(entry.access));
  if (entry.if_missing != IfMissing::kProtect) {
    Member(out, "missing_path_behavior", NameFor(entry.if_missing));
  }
  out += '}';
}

void AppendFiles(std::string& out, const std::optional<Policy::Files>& files) {
  out += R"(,"file_system":{)";
  Member(out, "type", NameFor(files ? FileSystemType::kRestricted : FileSystemType::kUnrestricted));
  if (files) {
    out += R"(,"entries":[)";
    for (const Entry& entry : files->entries) {
      if (&entry != &files->entries.front()) out += ',';
      AppendEntry(out, entry);
    }
    out += ']';
    if (files->glob_scan_max_depth) {
      out += R"(,"glob_scan_max_depth":)";
      wire::AppendUint(out, *files->glob_scan_max_depth);
    }
  }
  out += '}';
}

}  // namespace

std::string ProfileText(const Profile& profile) {
  std::string out = "{";
  Member(out, "type", NameFor(profile.type));
  if (profile.type == ProfileType::kManaged) AppendFiles(out, profile.policy.files);
  if (profile.type != ProfileType::kDisabled) Member(out, "network", NameFor(profile.policy.network));
  out += '}';
  return out;
}

}  // namespace holdfast::sandbox
