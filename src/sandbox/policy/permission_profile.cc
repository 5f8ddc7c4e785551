#include "sandbox/policy/permission_profile.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "sandbox/policy/location.h"
#include "sandbox/policy/profile_spelling.h"
#include "wire/decode.h"
#include "wire/field_types.h"

namespace holdfast::sandbox {
namespace {

enum class LocationType { kPath, kGlobPattern, kSpecial };

}  // namespace
}  // namespace holdfast::sandbox

namespace holdfast::wire {

template <>
struct EnumNames<sandbox::LocationType> {
  static constexpr std::array<std::pair<const char*, sandbox::LocationType>, 3> kNames{
      {{"path", sandbox::LocationType::kPath},
       {"glob_pattern", sandbox::LocationType::kGlobPattern},
       {"special", sandbox::LocationType::kSpecial}}};
};

}  // namespace holdfast::wire

namespace holdfast::sandbox {
namespace {

// Decodes the member `name` as a string, parses it with `parse` and stores the result in `location`.
template <typename T>
void RequiredLocation(wire::Decoder& f, const char* name, Result<T> (*parse)(std::string_view), auto& location) {
  std::string_view text;
  f.Required(name, text);
  if (f.fault()) return;
  auto parsed = parse(text);
  if (!parsed) return f.Fault(name, parsed.error().message);
  location = *std::move(parsed);
}

// Refuses an array that is too long. The caller must check it before it decodes the member, because decoding allocates
// memory for all elements.
void LimitEntries(wire::Decoder& f, const char* name) {
  const wire::Json member = f.object().Find(name);
  if (member.is_array() && member.size() > kMaxEntries) {
    f.Fault(name, fmt::format("has {} entries, but may have at most {}", member.size(), kMaxEntries));
  }
}

struct PlaceMessage {
  Place place;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    f.Required("kind", place.kind);
    f.Known("subpath");
    if (place.kind == PlaceKind::kUnknown) return UnknownFields(f);
    if (f.object().Find("subpath").is_null()) return;
    if (place.kind != PlaceKind::kProjectRoots)
      return f.Fault("subpath", "only the place project_roots may have a subpath");
    RequiredLocation(f, "subpath", &ParseProjectPlace, place);
  }

  // The path must be there, but it is ignored: only a later version knows what it means.
  static void UnknownFields(wire::Decoder& f) {
    std::string_view path;
    f.Required("path", path);
  }
};

struct LocationMessage {
  decltype(Entry::where) where;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    LocationType type{};
    f.Required("type", type);
    if (f.fault()) return;
    switch (type) {
      case LocationType::kPath:
        return RequiredLocation(f, "path", &ParseAbsolutePath, where);
      case LocationType::kGlobPattern:
        return RequiredLocation(f, "pattern", &ParsePattern, where);
      case LocationType::kSpecial:
        PlaceMessage special;
        f.Required("value", special);
        where = std::move(special.place);
    }
  }
};

struct EntryMessage {
  Entry entry;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    LocationMessage location;
    std::optional<IfMissing> if_missing;
    f.Required("path", location);
    f.Required("access", entry.access);
    f.Optional("missing_path_behavior", if_missing);
    entry.where = std::move(location.where);
    entry.if_missing = if_missing.value_or(entry.if_missing);
    if (const Result<> checked = CheckEnforceable(entry); !checked) f.Fault("access", checked.error().message);
  }
};

struct EntriesMessage {
  Policy::Files files;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    std::vector<EntryMessage> entries;
    std::optional<uint64_t> depth;
    LimitEntries(f, "entries");
    f.Required("entries", entries);
    f.Optional("glob_scan_max_depth", depth);
    if (depth == 0) f.Fault("glob_scan_max_depth", "must be at least 1");
    for (EntryMessage& message : entries) files.entries.push_back(std::move(message.entry));
    files.glob_scan_max_depth = depth;
  }
};

struct FileSystemMessage {
  std::optional<Policy::Files> files;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    FileSystemType type{};
    f.Required("type", type);
    if (type == FileSystemType::kUnrestricted) return;
    EntriesMessage restricted;
    restricted.Fields(f);
    files = std::move(restricted.files);
  }
};

struct UntaggedFileSystemMessage {
  Policy::Files files;

  // The object has either `entries`, or the lists `read` and `write`. The members of the other form may be null.
  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    for (const char* name : {"entries", "read", "write"}) f.Known(name);
    const bool has_entries = !f.object().Find("entries").is_null();
    const bool has_lists = !f.object().Find("read").is_null() || !f.object().Find("write").is_null();
    if (has_entries == has_lists) return f.Fault("entries", "give either entries, or read and write");
    if (has_lists) return ListFields(f);
    EntriesMessage message;
    message.Fields(f);
    files = std::move(message.files);
  }

  void ListFields(wire::Decoder& f) {
    List(f, "read", Access::kRead);
    List(f, "write", Access::kWrite);
  }

  void List(wire::Decoder& f, const char* name, Access access) {
    std::optional<std::vector<std::string_view>> paths;
    LimitEntries(f, name);
    f.Optional(name, paths);
    if (f.fault() || !paths) return;
    if (files.entries.size() + paths->size() > kMaxEntries) {
      return f.Fault(name, fmt::format("read and write together have more than {} entries", kMaxEntries));
    }
    for (const std::string_view text : *paths) {
      auto path = ParseAbsolutePath(text);
      if (!path) return f.Fault(name, path.error().message);
      files.entries.push_back({*std::move(path), access});
    }
  }
};

struct UntaggedNetworkMessage {
  std::optional<bool> enabled;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    f.Optional("enabled", enabled);
  }
};

struct ProfileMessage {
  Profile profile;

  void Fields(wire::Decoder& f) {
    f.RefuseUnknown();
    const bool is_untagged = !f.object().Find("file_system").is_absent() || !f.object().Find("network").is_absent();
    if (f.object().Find("type").is_absent() && is_untagged) return UntaggedFields(f);
    f.Required("type", profile.type);
    if (f.fault()) return;
    if (profile.type == ProfileType::kDisabled) {
      profile.policy.network = Network::kEnabled;
      return;
    }
    f.Required("network", profile.policy.network);
    if (profile.type == ProfileType::kManaged) ManagedFields(f);
  }

  void ManagedFields(wire::Decoder& f) {
    FileSystemMessage file_system;
    f.Required("file_system", file_system);
    profile.policy.files = std::move(file_system.files);
  }

  // A profile without `type` grants only what it lists: without `file_system` the command may not even read files.
  void UntaggedFields(wire::Decoder& f) {
    std::optional<UntaggedFileSystemMessage> file_system;
    std::optional<UntaggedNetworkMessage> network;
    f.Optional("file_system", file_system);
    f.Optional("network", network);
    profile.policy.files.emplace();
    if (file_system) profile.policy.files = std::move(file_system->files);
    profile.policy.network = NetworkIf(network && network->enabled.value_or(false));
  }
};

}  // namespace

Result<Profile> DecodeProfile(wire::Json json) {
  if (!json.is_object()) {
    return Fail(ErrorKind::kInvalidParams, fmt::format("profile: expected an object, got {}", json.kind()));
  }
  TRY(ProfileMessage message, wire::Decode<ProfileMessage>(json));
  return std::move(message.profile);
}

Result<Profile> ParseProfile(std::string_view text) {
  wire::Document document;
  TRY(const wire::Json json, document.Parse(text));
  return DecodeProfile(json);
}

}  // namespace holdfast::sandbox
