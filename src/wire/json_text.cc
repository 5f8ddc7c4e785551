#include "wire/json_text.h"

#include <charconv>
#include <span>
#include <utility>

#include "base/base64.h"
#include "base/utf8.h"

namespace holdfast::wire {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsPlain(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F && c != '"' && c != '\\';
}

void AppendEscaped(std::string& out, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 0xF];
  }
}

template <typename Number>
void AppendNumber(std::string& out, Number number) {
  char text[24];
  auto [end, ec] = std::to_chars(text, text + sizeof text, number);
  out.append(text, end);
}

void AppendArray(std::string& out, Json array) {
  out += '[';
  for (size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out += ',';
    AppendJson(out, array.at(i));
  }
  out += ']';
}

void AppendObject(std::string& out, Json object) {
  char separator = '{';
  object.ForEachMember([&](std::string_view key, Json value) {
    out += std::exchange(separator, ',');
    AppendString(out, key);
    out += ':';
    AppendJson(out, value);
  });
  out += object.size() == 0 ? "{}" : "}";
}

}  // namespace

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    size_t length = Utf8Length(text);
    if (length > 1) {
      out.append(text.substr(0, length));
    } else if (length == 1) {
      AppendEscaped(out, text[0]);
    } else {
      out += kReplacement;
      length = 1;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void AppendBase64(std::string& out, std::string_view bytes) {
  const size_t start = out.size();
  const size_t wanted = start + Base64EncodedSize(bytes.size()) + 2;
  // The size parameter of the callback is not used, because libstdc++ 12 passes the capacity instead of the requested
  // size.
  out.resize_and_overwrite(wanted, [&](char* data, size_t) {
    data[start] = '"';
    *Base64Encode(std::as_bytes(std::span(bytes)), data + start + 1) = '"';
    return wanted;
  });
}

void AppendInt(std::string& out, int64_t number) { AppendNumber(out, number); }
void AppendUint(std::string& out, uint64_t number) { AppendNumber(out, number); }

void AppendJson(std::string& out, Json json) {
  if (json.is_object()) return AppendObject(out, json);
  if (json.is_array()) return AppendArray(out, json);
  if (const auto text = json.string()) return AppendString(out, *text);
  if (const auto number = json.int64()) return AppendInt(out, *number);
  if (const auto number = json.uint64()) return AppendUint(out, *number);
  if (const auto flag = json.boolean()) {
    out += *flag ? "true" : "false";
  } else {
    out += json.is_null() ? "null" : json.fraction();
  }
}

}  // namespace holdfast::wire
