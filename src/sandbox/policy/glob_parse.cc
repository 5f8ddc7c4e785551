#include "sandbox/policy/glob_parse.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace holdfast::sandbox {
namespace {

using Kind = NameToken::Kind;

constexpr size_t kMaxTextBytes = 4096, kMaxAlternatives = 256;

// Returns the position of the `]` that closes the class which begins at `open`. A `]` directly behind the opening
// bracket, or behind its `!`, is a member of the class and does not close it.
std::optional<size_t> ClassEnd(std::string_view text, size_t open) {
  size_t at = open + 1;
  if (at < text.size() && (text[at] == '!' || text[at] == '^')) ++at;
  const size_t end = text.find(']', at + 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(end);
}

// Returns the position behind the character, the escape or the class that begins at `at`. Braces and commas in an
// escape or in a class stand for themselves.
size_t SkipOpaque(std::string_view text, size_t at) {
  if (text[at] == '\\') return std::min(at + 2, text.size());
  if (text[at] == '[') return ClassEnd(text, at).value_or(at) + 1;
  return at + 1;
}

struct Braces {
  size_t open, close;
  std::vector<std::string_view> alternatives;
};

// Returns the first outermost pair of braces, or nothing if there is none.
Result<std::optional<Braces>> FindBraces(std::string_view text) {
  Braces braces{};
  size_t depth = 0, start = 0;
  for (size_t at = 0; at < text.size(); at = SkipOpaque(text, at)) {
    const char c = text[at];
    if (c == '{' && depth++ == 0) {
      braces.open = at;
      start = at + 1;
    } else if (c == '}' && depth == 0) {
      return Fail(ErrorKind::kInvalidRequest, "has a closing brace without an opening one");
    } else if (depth == 1 && (c == ',' || c == '}')) {
      braces.alternatives.push_back(text.substr(start, at - start));
      start = at + 1;
    }
    if (c == '}' && --depth == 0) {
      braces.close = at;
      return braces;
    }
  }
  if (depth > 0) return Fail(ErrorKind::kInvalidRequest, "has an opening brace without a closing one");
  return std::nullopt;
}

Result<std::vector<std::string>> Alternatives(std::string_view text) {
  std::vector<std::string> done, pending = {std::string(text)};
  while (!pending.empty()) {
    const std::string next = std::move(pending.back());
    pending.pop_back();
    TRY(const std::optional<Braces> braces, FindBraces(next));
    if (!braces) {
      done.push_back(next);
      continue;
    }
    if (done.size() + pending.size() + braces->alternatives.size() > kMaxAlternatives) {
      return Fail(ErrorKind::kInvalidRequest, fmt::format("has more than {} alternatives", kMaxAlternatives));
    }
    for (const std::string_view alternative : braces->alternatives) {
      pending.push_back(next.substr(0, braces->open).append(alternative).append(next, braces->close + 1));
    }
  }
  return done;
}

Result<NameToken> ParseClass(std::string_view inside) {
  if (inside.contains('/')) return Fail(ErrorKind::kInvalidRequest, "has a slash in [...]");
  NameToken token{.kind = inside[0] == '!' || inside[0] == '^' ? Kind::kNoneOf : Kind::kOneOf};
  for (size_t at = token.kind == Kind::kNoneOf ? 1 : 0; at < inside.size();) {
    const char32_t first = TakeCharacter(inside, at);
    char32_t last = first;
    if (at + 1 < inside.size() && inside[at] == '-') last = TakeCharacter(inside, ++at);
    if (last < first) return Fail(ErrorKind::kInvalidRequest, "has a range in [...] that ends before it begins");
    token.ranges.push_back({first, last});
  }
  return token;
}

struct Name {
  NamePattern pattern;
  std::string literal;  // the literal characters, without escapes; the whole name when there is no wildcard
  bool has_wildcard = false;
  size_t stars = 0;

  bool Is(std::string_view text) const { return !has_wildcard && literal == text; }
  bool IsAnyDirectories() const { return pattern.size() == 1 && stars > 1; }
};

void AddLiteral(Name& name, std::string_view text, size_t& at) {
  const size_t start = at;
  name.pattern.push_back({.kind = Kind::kLiteral, .literal = TakeCharacter(text, at)});
  name.literal.append(text, start, at - start);
}

void AddStar(Name& name) {
  name.has_wildcard = true;
  ++name.stars;
  if (name.pattern.empty() || name.pattern.back().kind != Kind::kAnyRun)
    name.pattern.push_back({.kind = Kind::kAnyRun});
}

void AddOne(Name& name, NameToken token) {
  name.has_wildcard = true;
  name.pattern.push_back(std::move(token));
}

// Adds the class, the wildcard or the character that begins at `at`, and moves `at` behind it. The caller handles
// slashes and escapes.
Result<> AddToken(Name& name, std::string_view text, size_t& at) {
  const std::optional<size_t> class_end = text[at] == '[' ? ClassEnd(text, at) : std::nullopt;
  if (class_end) {
    TRY(NameToken token, ParseClass(text.substr(at + 1, *class_end - at - 1)));
    AddOne(name, std::move(token));
    at = *class_end + 1;
  } else if (text[at] == '*') {
    AddStar(name);
    ++at;
  } else if (text[at] == '?') {
    AddOne(name, {.kind = Kind::kAnyCharacter});
    ++at;
  } else {
    AddLiteral(name, text, at);
  }
  return {};
}

Result<std::vector<Name>> ParseNames(std::string_view text) {
  std::vector<Name> names(1);
  for (size_t at = 0; at < text.size();) {
    const bool escaped = text[at] == '\\';
    if (escaped && ++at == text.size()) return Fail(ErrorKind::kInvalidRequest, "has a backslash at the end");
    if (text[at] == '/') {
      names.emplace_back();
      ++at;
    } else if (escaped) {
      AddLiteral(names.back(), text, at);
    } else {
      TRY_VOID(AddToken(names.back(), text, at));
    }
  }
  return names;
}

void AppendName(std::string& path, std::string_view name) {
  if (name == "..") {
    path.resize(std::min(path.rfind('/'), path.size()));
  } else {
    path.append("/").append(name);
  }
}

bool IsEmptyOrDot(const Name& name) { return name.pattern.empty() || name.Is("."); }

Result<GlobTarget> MakeTarget(std::string_view base, const std::vector<Name>& names) {
  std::string path(base == "/" ? "" : base);
  std::vector<std::optional<NamePattern>> steps;
  for (const Name& name : names) {
    if (IsEmptyOrDot(name)) continue;
    if (steps.empty() && !name.has_wildcard) {
      AppendName(path, name.literal);
    } else if (name.Is("..")) {
      return Fail(ErrorKind::kInvalidRequest, "has `..` behind a wildcard");
    } else if (!name.IsAnyDirectories()) {
      steps.emplace_back(name.pattern);
    } else if (steps.empty() || steps.back()) {
      steps.emplace_back(std::nullopt);
    }
  }
  if (steps.empty()) return GlobTarget{path.empty() ? "/" : path, std::nullopt};
  if (path.empty()) return Fail(ErrorKind::kInvalidRequest, "needs a directory before the first wildcard");

  if (IsEmptyOrDot(names.back()) && steps.back()) steps.emplace_back(std::nullopt);
  if (!steps.back()) steps.emplace_back(NamePattern{{.kind = Kind::kAnyRun}});
  return GlobTarget{std::move(path), Glob(std::move(steps))};
}

Result<std::vector<GlobTarget>> ParseChecked(std::string_view base, std::string_view text) {
  if (text.empty()) return Fail(ErrorKind::kInvalidRequest, "is empty");
  if (text.size() > kMaxTextBytes)
    return Fail(ErrorKind::kInvalidRequest, fmt::format("is longer than {} bytes", kMaxTextBytes));
  if (text.contains('\0')) return Fail(ErrorKind::kInvalidRequest, "contains a nul byte");
  TRY(const std::vector<std::string> alternatives, Alternatives(text));
  std::vector<GlobTarget> targets;
  for (const std::string& alternative : alternatives) {
    TRY(const std::vector<Name> names, ParseNames(alternative));
    TRY(GlobTarget target, MakeTarget(base, names));
    targets.push_back(std::move(target));
  }
  return targets;
}

}  // namespace

Result<std::vector<GlobTarget>> ParseGlob(std::string_view base, std::string_view text) {
  Result<std::vector<GlobTarget>> targets = ParseChecked(base, text);
  if (targets) return targets;
  return Fail(targets.error().kind, fmt::format("pattern {}: {}", text.substr(0, 256), targets.error().message));
}

bool HasGlobCharacters(std::string_view text) { return text.find_first_of("*?[]{}\\") != std::string_view::npos; }

}  // namespace holdfast::sandbox
