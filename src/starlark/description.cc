#include "starlark/description.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/utf8.h"
#include "starlark/characters.h"
#include "starlark/diagnostic.h"
#include "starlark/dict.h"
#include "starlark/function.h"
#include "starlark/heap.h"
#include "starlark/list.h"

namespace holdfast::starlark {
namespace {

// Collects a text up to a number of bytes. A list that occurs twice in each of many nested lists has a text that is too
// long for any memory, so the writer stops early.
class Writer {
 public:
  explicit Writer(size_t room) : room_(room) {}

  bool is_full() const { return text_.size() > room_; }
  std::string& text() { return text_; }

  void Write(const Value& value, int depth);

 private:
  void Write(std::string_view text) {
    if (!is_full()) text_.append(text);
  }
  void WriteQuoted(std::string_view text);
  void WriteItems(std::span<const Value> items, int depth);
  void WriteDict(const Dict& dict, int depth);
  void WriteRange(const Range& range);

  size_t room_;
  std::string text_;
};

void Writer::WriteQuoted(std::string_view text) {
  Write("\"");
  for (size_t index = 0; index < text.size() && !is_full(); ++index) {
    const char c = text[index];
    if (c == '"' || c == '\\') {
      text_.append({'\\', c});
    } else if (c == '\n') {
      text_.append("\\n");
    } else if (c == '\t') {
      text_.append("\\t");
    } else if (c == '\r') {
      text_.append("\\r");
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      text_.append(fmt::format("\\x{:02x}", c));
    } else {
      text_.push_back(c);
    }
  }
  Write("\"");
}

void Writer::WriteItems(std::span<const Value> items, int depth) {
  for (size_t index = 0; index < items.size() && !is_full(); ++index) {
    if (index > 0) Write(", ");
    Write(items[index], depth);
  }
}

void Writer::WriteDict(const Dict& dict, int depth) {
  Write("{");
  std::string_view separator;
  for (const Dict::Entry& entry : dict.entries()) {
    if (!entry.live) continue;
    if (is_full()) return;
    Write(separator);
    Write(entry.key, depth);
    Write(": ");
    Write(entry.value, depth);
    separator = ", ";
  }
  Write("}");
}

void Writer::WriteRange(const Range& range) {
  Write(range.step == 1 ? fmt::format("range({}, {})", range.start, range.stop)
                        : fmt::format("range({}, {}, {})", range.start, range.stop, range.step));
}

void Writer::Write(const Value& value, int depth) {
  if (depth == 0) return Write("...");
  std::visit(
      [&]<typename T>(const T& object) {
        if constexpr (std::is_same_v<T, None>) {
          Write("None");
        } else if constexpr (std::is_same_v<T, bool>) {
          Write(object ? "True" : "False");
        } else if constexpr (std::is_same_v<T, int64_t>) {
          Write(fmt::to_string(object));
        } else if constexpr (std::is_same_v<T, std::string_view>) {
          WriteQuoted(object);
        } else if constexpr (std::is_same_v<T, List*>) {
          Write("[");
          WriteItems(object->items(), depth - 1);
          Write("]");
        } else if constexpr (std::is_same_v<T, const Tuple*>) {
          Write("(");
          WriteItems(object->items, depth - 1);
          Write(object->items.size() == 1 ? ",)" : ")");
        } else if constexpr (std::is_same_v<T, Dict*>) {
          WriteDict(*object, depth - 1);
        } else if constexpr (std::is_same_v<T, const Range*>) {
          WriteRange(*object);
        } else {
          Write(fmt::format("<function {}>", object->name));
        }
      },
      value);
}

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

std::string_view TypeName(const Value& value) {
  static constexpr std::array<std::string_view, std::variant_size_v<Value>> kNames = {
      "NoneType", "bool", "int", "string", "list", "tuple", "dict", "range", "function"};
  return kNames[value.index()];
}

std::string Shown(const Value& value) {
  static constexpr size_t kRoom = 120;
  Writer writer(kRoom);
  writer.Write(value, 8);
  std::string& text = writer.text();
  if (!writer.is_full()) return std::move(text);
  text.resize(kRoom);
  while (!text.empty() && !IsUtf8(text)) text.pop_back();
  return std::move(text) + "...";
}

Result<std::string_view> Repr(Heap& heap, const Value& value) {
  static constexpr size_t kRoom = size_t{1} << 20;
  Writer writer(kRoom);
  writer.Write(value, 64);
  if (writer.is_full()) return Mistake("the text of the {} is too long", TypeName(value));
  TRY_VOID(heap.Spend(writer.text().size() / 8));
  return heap.CopyText(writer.text());
}

Result<std::string_view> Str(Heap& heap, const Value& value) {
  if (const auto* const text = std::get_if<std::string_view>(&value)) return *text;
  return Repr(heap, value);
}

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

}  // namespace holdfast::starlark
