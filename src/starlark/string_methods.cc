// The methods of strings that look for parts, change letters or take parts away. string_lists.cc has those that split
// and join. Letters are those of ASCII.
#include <algorithm>
#include <array>
#include <string>

#include "base/ascii.h"
#include "base/utf8.h"
#include "starlark/arguments.h"
#include "starlark/characters.h"
#include "starlark/description.h"
#include "starlark/diagnostic.h"
#include "starlark/heap.h"
#include "starlark/native.h"
#include "starlark/operators.h"
#include "starlark/string_lists.h"

namespace holdfast::starlark {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\v\f";

std::string_view Self(const NativeCall& call) { return std::get<std::string_view>(call.self); }

constexpr char AsciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// Returns a copy of the string, changed by `change`.
Result<Value> Changed(const NativeCall& call, const auto& change) {
  TRY_VOID(NoArguments(call));
  TRY(const std::span<char> copy, call.heap.NewArray<char>(Self(call).size()));
  std::ranges::copy(Self(call), copy.begin());
  change(copy);
  return std::string_view(copy.data(), copy.size());
}

Result<Value> Capitalize(const NativeCall& call) {
  return Changed(call, [](std::span<char> text) {
    std::ranges::transform(text, text.begin(), AsciiLower);
    if (!text.empty()) text[0] = AsciiUpper(text[0]);
  });
}

Result<Value> Lower(const NativeCall& call) {
  return Changed(call, [](std::span<char> text) { std::ranges::transform(text, text.begin(), AsciiLower); });
}

Result<Value> Upper(const NativeCall& call) {
  return Changed(call, [](std::span<char> text) { std::ranges::transform(text, text.begin(), AsciiUpper); });
}

// Makes the first letter of each word upper case, and the others lower case.
Result<Value> Title(const NativeCall& call) {
  return Changed(call, [](std::span<char> text) {
    char before = '\0';
    for (char& c : text) {
      c = IsLetter(before) ? AsciiLower(c) : AsciiUpper(c);
      before = c;
    }
  });
}

// Returns whether the string is not empty and all its bytes are of one kind.
Result<Value> IsAll(const NativeCall& call, bool (*is_of_kind)(char)) {
  TRY_VOID(NoArguments(call));
  TRY_VOID(call.heap.SpendOnText(Self(call).size()));
  return !Self(call).empty() && std::ranges::all_of(Self(call), is_of_kind);
}

Result<Value> IsAlnum(const NativeCall& call) {
  return IsAll(call, [](char c) { return IsLetter(c) || IsDigit(c); });
}
Result<Value> IsAlpha(const NativeCall& call) { return IsAll(call, IsLetter); }
Result<Value> IsDigitMethod(const NativeCall& call) { return IsAll(call, IsDigit); }
Result<Value> IsSpace(const NativeCall& call) {
  return IsAll(call, [](char c) { return kBlanks.contains(c); });
}

// Returns whether the string has letters of the wanted case only.
Result<Value> HasCase(const NativeCall& call, bool (*is_wanted)(char)) {
  TRY_VOID(NoArguments(call));
  TRY_VOID(call.heap.SpendOnText(Self(call).size()));
  return std::ranges::any_of(Self(call), is_wanted) &&
         std::ranges::all_of(Self(call), [is_wanted](char c) { return !IsLetter(c) || is_wanted(c); });
}

Result<Value> IsLowerMethod(const NativeCall& call) { return HasCase(call, IsLower); }
Result<Value> IsUpperMethod(const NativeCall& call) { return HasCase(call, IsUpper); }

// Where a string looks for another one.
struct Search {
  std::string_view part, wanted;
  size_t offset;  // of the part in the string
};

Result<Search> PrepareSearch(const NativeCall& call) {
  TRY(const auto arguments, Arguments<3>(call, 1, {"sub", "start", "end"}));
  TRY(const std::string_view wanted, TextArgument(call, *arguments[0]));
  TRY(const TextPart part,
      PartOfText(call.heap, Self(call), arguments[1].value_or(None{}), arguments[2].value_or(None{})));
  TRY_VOID(call.heap.SpendOnSearch(part.end - part.begin, wanted.size()));
  TRY_VOID(call.heap.SpendOnText(Self(call).size()));  // the characters before the place are counted
  return Search{Self(call).substr(part.begin, part.end - part.begin), wanted, part.begin};
}

Result<Value> Count(const NativeCall& call) {
  TRY(const Search search, PrepareSearch(call));
  if (search.wanted.empty()) return static_cast<int64_t>(CountCharacters(search.part) + 1);
  int64_t count = 0;
  for (size_t place = search.part.find(search.wanted); place != std::string_view::npos; ++count) {
    place = search.part.find(search.wanted, place + search.wanted.size());
  }
  return count;
}

// Returns the index of the character at which the wanted string begins, or -1.
Result<int64_t> Find(const NativeCall& call, size_t (*find)(std::string_view text, std::string_view wanted)) {
  TRY(const Search search, PrepareSearch(call));
  const size_t place = find(search.part, search.wanted);
  if (place == std::string_view::npos) return -1;
  return static_cast<int64_t>(CountCharacters(Self(call).substr(0, search.offset + place)));
}

size_t FindFirst(std::string_view text, std::string_view wanted) { return text.find(wanted); }
size_t FindLast(std::string_view text, std::string_view wanted) { return text.rfind(wanted); }

Result<Value> Found(Result<int64_t> index) {
  if (index && *index < 0) return Mistake("the string does not contain the other one");
  return index;
}

Result<Value> FindFirstMethod(const NativeCall& call) { return Find(call, FindFirst); }
Result<Value> FindLastMethod(const NativeCall& call) { return Find(call, FindLast); }
Result<Value> Index(const NativeCall& call) { return Found(Find(call, FindFirst)); }
Result<Value> IndexLast(const NativeCall& call) { return Found(Find(call, FindLast)); }

// Returns whether `fits(part, text)` holds for the argument, or for one item of the tuple that the argument is.
Result<Value> FitsAny(const NativeCall& call, bool (*fits)(std::string_view part, std::string_view text)) {
  TRY(const auto arguments, Arguments<3>(call, 1, {"sub", "start", "end"}));
  TRY(const TextPart place,
      PartOfText(call.heap, Self(call), arguments[1].value_or(None{}), arguments[2].value_or(None{})));
  const std::string_view part = Self(call).substr(place.begin, place.end - place.begin);
  const auto* const tuple = std::get_if<const Tuple*>(&*arguments[0]);
  for (const Value& item : tuple != nullptr ? (*tuple)->items : std::span(&*arguments[0], 1)) {
    TRY(const std::string_view text, TextArgument(call, item));
    TRY_VOID(call.heap.Spend(1 + text.size() / 64));
    if (fits(part, text)) return true;
  }
  return false;
}

Result<Value> StartsWith(const NativeCall& call) {
  return FitsAny(call, [](std::string_view part, std::string_view text) { return part.starts_with(text); });
}
Result<Value> EndsWith(const NativeCall& call) {
  return FitsAny(call, [](std::string_view part, std::string_view text) { return part.ends_with(text); });
}

Result<Value> Format(const NativeCall& call) { return BraceFormat(call.heap, Self(call), call.positional, call.named); }

Result<Value> RemovePrefix(const NativeCall& call) {
  TRY(const Value argument, OnlyArgument(call));
  TRY(const std::string_view prefix, TextArgument(call, argument));
  TRY_VOID(call.heap.SpendOnText(prefix.size()));
  return Self(call).substr(Self(call).starts_with(prefix) ? prefix.size() : 0);
}

Result<Value> RemoveSuffix(const NativeCall& call) {
  TRY(const Value argument, OnlyArgument(call));
  TRY(const std::string_view suffix, TextArgument(call, argument));
  TRY_VOID(call.heap.SpendOnText(suffix.size()));
  return Self(call).substr(0, Self(call).size() - (Self(call).ends_with(suffix) ? suffix.size() : 0));
}

Result<Value> Replace(const NativeCall& call) {
  TRY(const auto arguments, Arguments<3>(call, 2, {"old", "new", "count"}));
  TRY(const std::string_view wanted, TextArgument(call, *arguments[0]));
  TRY(const std::string_view replacement, TextArgument(call, *arguments[1]));
  TRY(int64_t count, NumberArgument(call, arguments[2].value_or(int64_t{-1})));
  TRY_VOID(call.heap.SpendOnSearch(Self(call).size(), wanted.size()));
  std::string_view rest = Self(call);
  TextBuilder builder(call.heap);
  for (; count != 0; --count) {
    const size_t place = rest.find(wanted);
    if (place == std::string_view::npos) break;
    TRY_VOID(call.heap.Spend(1));
    TRY_VOID(builder.Add(rest.substr(0, place)));
    TRY_VOID(builder.Add(replacement));
    rest.remove_prefix(place + wanted.size());
    if (!wanted.empty()) continue;
    // An empty string is found before each character, and at the end.
    if (rest.empty()) break;
    const size_t character = OffsetOfCharacter(rest, 1);
    TRY_VOID(builder.Add(rest.substr(0, character)));
    rest.remove_prefix(character);
  }
  TRY_VOID(builder.Add(rest));
  return builder.Finish();
}

// Return the first and the last character of a text that is not empty.
std::string_view FirstOf(std::string_view text) { return text.substr(0, Utf8Length(text)); }
std::string_view LastOf(std::string_view text) {
  size_t begin = text.size() - 1;
  while (Utf8Length(text.substr(begin)) == 0) --begin;
  return text.substr(begin);
}

enum class Side { kLeft, kRight, kBoth };

// Takes characters away from the ends of the string: blanks, or those of the argument.
Result<Value> Strip(const NativeCall& call, Side side) {
  TRY(const auto arguments, Arguments<1>(call, 0, {"cutset"}));
  std::string_view cutset = kBlanks;
  if (arguments[0] && !std::holds_alternative<None>(*arguments[0])) {
    TRY(cutset, TextArgument(call, *arguments[0]));
  }
  TRY_VOID(call.heap.SpendOnSearch(Self(call).size() + cutset.size(), cutset.size()));
  std::string_view text = Self(call);
  while (side != Side::kRight && !text.empty() && cutset.contains(FirstOf(text)))
    text.remove_prefix(FirstOf(text).size());
  while (side != Side::kLeft && !text.empty() && cutset.contains(LastOf(text))) text.remove_suffix(LastOf(text).size());
  return text;
}

Result<Value> StripBoth(const NativeCall& call) { return Strip(call, Side::kBoth); }
Result<Value> StripLeft(const NativeCall& call) { return Strip(call, Side::kLeft); }
Result<Value> StripRight(const NativeCall& call) { return Strip(call, Side::kRight); }

}  // namespace

std::span<const NativeEntry> StringMethods() {
  static constexpr auto kMethods = std::to_array<NativeEntry>({
      {"capitalize", Capitalize},
      {"count", Count},
      {"elems", TextElements},
      {"endswith", EndsWith},
      {"find", FindFirstMethod},
      {"format", Format},
      {"index", Index},
      {"isalnum", IsAlnum},
      {"isalpha", IsAlpha},
      {"isdigit", IsDigitMethod},
      {"islower", IsLowerMethod},
      {"isspace", IsSpace},
      {"isupper", IsUpperMethod},
      {"join", JoinTexts},
      {"lower", Lower},
      {"lstrip", StripLeft},
      {"partition", PartitionText},
      {"removeprefix", RemovePrefix},
      {"removesuffix", RemoveSuffix},
      {"replace", Replace},
      {"rfind", FindLastMethod},
      {"rindex", IndexLast},
      {"rpartition", PartitionTextAtLast},
      {"rsplit", SplitTextFromEnd},
      {"rstrip", StripRight},
      {"split", SplitText},
      {"splitlines", SplitLines},
      {"startswith", StartsWith},
      {"strip", StripBoth},
      {"title", Title},
      {"upper", Upper},
  });
  return kMethods;
}

}  // namespace holdfast::starlark
