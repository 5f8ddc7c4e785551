#include "exec_policy/starlark/description.h"

#include <array>
#include <span>

#include <fmt/format.h>

#include "base/utf8.h"
#include "exec_policy/starlark/dict.h"
#include "exec_policy/starlark/function.h"
#include "exec_policy/starlark/list.h"
#include "exec_policy/starlark/mistake.h"

namespace holdfast::exec_policy {
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

}  // namespace holdfast::exec_policy
