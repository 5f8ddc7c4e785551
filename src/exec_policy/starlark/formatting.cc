#include "exec_policy/starlark/formatting.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "exec_policy/starlark/characters.h"
#include "exec_policy/starlark/description.h"
#include "exec_policy/starlark/mistake.h"
#include "exec_policy/starlark/text_builder.h"

namespace holdfast::exec_policy {
namespace {

std::string NumberText(char conversion, int64_t number) {
  const std::string_view sign = number < 0 ? "-" : "";
  const uint64_t size = number < 0 ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  switch (conversion) {
    case 'x':
      return fmt::format("{}{:x}", sign, size);
    case 'X':
      return fmt::format("{}{:X}", sign, size);
    case 'o':
      return fmt::format("{}{:o}", sign, size);
    default:
      return fmt::format("{}{}", sign, size);
  }
}

Result<std::string> CharacterText(const Value& value) {
  std::string text;
  if (const auto* const number = std::get_if<int64_t>(&value)) {
    if (*number < 0 || *number > 0x10ffff || !AppendCharacter(text, static_cast<uint32_t>(*number))) {
      return Mistake("there is no character with the number {}", *number);
    }
    return text;
  }
  const auto* const character = std::get_if<std::string_view>(&value);
  if (character == nullptr || CountCharacters(*character) != 1) return Mistake("`%c` needs a number or one character");
  return std::string(*character);
}

Result<> AddConverted(Heap& heap, TextBuilder& builder, char conversion, const Value& value) {
  if (conversion == 's' || conversion == 'r') {
    TRY(const std::string_view text, conversion == 's' ? Str(heap, value) : Repr(heap, value));
    return builder.Add(text);
  }
  if (conversion == 'c') {
    TRY(const std::string text, CharacterText(value));
    return builder.Add(text);
  }
  if (!std::string_view("dixXo").contains(conversion)) {
    return Mistake("`%` is followed by no conversion; there are s, r, d, x, X, o, c and %");
  }
  const auto* const number = std::get_if<int64_t>(&value);
  if (number == nullptr)
    return Mistake("`%{}` needs a number, not a value of the type {}", conversion, TypeName(value));
  return builder.Add(NumberText(conversion, *number));
}

// One replacement field of the method `format`, without its braces.
struct Field {
  std::string_view name;
  bool is_repr = false;
};

Result<Field> ParseField(std::string_view text) {
  Field field{.name = text, .is_repr = text.ends_with("!r")};
  if (field.is_repr || text.ends_with("!s")) field.name.remove_suffix(2);
  const bool is_number = std::ranges::all_of(field.name, IsDigit);  // or empty
  if (!is_number && !IsName(field.name)) return Mistake("only a number or a name can stand in braces, not `{}`", text);
  return field;
}

// The arguments of the method `format`. Fields without a name take them one after the other.
struct FormatArguments {
  std::span<const Value> positional;
  std::span<const NamedValue> named;
  size_t next = 0;

  Result<Value> Find(std::string_view name) {
    if (!name.empty() && !IsDigit(name[0])) {
      const auto found = std::ranges::find(named, name, &NamedValue::first);
      if (found == named.end()) return Mistake("there is no argument `{}`", name);
      return found->second;
    }
    const size_t index = name.empty() ? next++ : ParseNumber<size_t>(name).value_or(SIZE_MAX);
    if (index >= positional.size()) return Mistake("there are too few arguments for the format");
    return positional[index];
  }
};

}  // namespace

Result<std::string_view> PercentFormat(Heap& heap, std::string_view format, const Value& operand) {
  const auto* const tuple = std::get_if<const Tuple*>(&operand);
  const std::span<const Value> arguments = tuple != nullptr ? (*tuple)->items : std::span(&operand, 1);
  TextBuilder builder(heap);
  size_t next = 0;
  for (size_t place = 0; place < format.size();) {
    const size_t percent = std::min(format.find('%', place), format.size());
    TRY_VOID(builder.Add(format.substr(place, percent - place)));
    if (percent == format.size()) break;
    if (percent + 1 == format.size()) return Mistake("the format ends with `%`");
    place = percent + 2;
    const char conversion = format[percent + 1];
    if (conversion == '%') {
      TRY_VOID(builder.Add("%"));
      continue;
    }
    if (next == arguments.size()) return Mistake("there are too few arguments for the format");
    TRY_VOID(AddConverted(heap, builder, conversion, arguments[next++]));
  }
  if (next < arguments.size()) return Mistake("there are too many arguments for the format");
  return builder.Finish();
}

Result<std::string_view> BraceFormat(Heap& heap, std::string_view format, std::span<const Value> positional,
                                     std::span<const NamedValue> named) {
  TextBuilder builder(heap);
  FormatArguments arguments{.positional = positional, .named = named};
  for (size_t place = 0; place < format.size();) {
    const size_t brace = std::min(format.find_first_of("{}", place), format.size());
    TRY_VOID(builder.Add(format.substr(place, brace - place)));
    if (brace == format.size()) break;
    if (format.substr(brace + 1, 1) == format.substr(brace, 1)) {
      TRY_VOID(builder.Add(format.substr(brace, 1)));
      place = brace + 2;
      continue;
    }
    const size_t end = format.find('}', brace);
    if (format[brace] == '}' || end == std::string_view::npos) return Mistake("the format has a single brace");
    TRY(const Field field, ParseField(format.substr(brace + 1, end - brace - 1)));
    TRY(const Value value, arguments.Find(field.name));
    TRY_VOID(AddConverted(heap, builder, field.is_repr ? 'r' : 's', value));
    place = end + 1;
  }
  return builder.Finish();
}

}  // namespace holdfast::exec_policy
