#include "starlark/string_literal.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/result.h"
#include "base/utf8.h"
#include "starlark/characters.h"

namespace holdfast::starlark {
namespace {

std::unexpected<LiteralMistake> Bad(size_t offset, std::string message) {
  return std::unexpected(LiteralMistake{offset, std::move(message)});
}

// Returns the character that a letter behind a backslash means.
std::optional<char> SimpleEscape(char letter) {
  static constexpr std::string_view kLetters = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";
  const size_t index = kLetters.find(letter);
  if (index == std::string_view::npos) return std::nullopt;
  return kMeanings[index];
}

// Decodes the escapes of one body.
class Decoder {
 public:
  explicit Decoder(std::string_view body) : body_(body) {}

  std::expected<std::string, LiteralMistake> Run() {
    while (place_ < body_.size()) {
      const size_t stop = std::min(body_.find_first_of("\\\r", place_), body_.size());
      text_.append(body_.substr(place_, stop - place_));
      place_ = stop;
      if (place_ == body_.size()) break;
      if (body_[place_] == '\r') {
        SkipCarriageReturn();
      } else {
        TRY_VOID(Escape());
      }
    }
    return std::move(text_);
  }

 private:
  // A line of the text may end with a carriage return and a line feed, of which the string gets the line feed.
  void SkipCarriageReturn() {
    if (!body_.substr(place_ + 1).starts_with('\n')) text_.push_back('\r');
    ++place_;
  }

  std::expected<void, LiteralMistake> Escape() {
    const std::string_view rest = body_.substr(place_ + 1);
    const char letter = rest.empty() ? '\0' : rest[0];
    if (letter == '\n' || rest.starts_with("\r\n")) {
      place_ += letter == '\n' ? 2 : 3;
      return {};
    }
    if (letter == 'x') return Code(2, 2, 16);
    if (letter == 'u') return Code(2, 4, 16);
    if (letter == 'U') return Code(2, 8, 16);
    if (letter >= '0' && letter <= '7') {
      const size_t digits = std::min(rest.find_first_not_of("01234567"), rest.size());
      return Code(1, std::min<size_t>(digits, 3), 8);
    }
    const auto meaning = SimpleEscape(letter);
    if (!meaning) {
      const std::string_view character = rest.substr(0, Utf8Length(rest));
      return Bad(place_, fmt::format("the escape `\\{}` is unknown; a backslash is written as `\\\\`", character));
    }
    text_.push_back(*meaning);
    place_ += 2;
    return {};
  }

  // Decodes the number of a character, which has `digits` digits behind `skipped` bytes.
  std::expected<void, LiteralMistake> Code(size_t skipped, size_t digits, int base) {
    const std::string_view number = body_.substr(std::min(place_ + skipped, body_.size()), digits);
    const auto code = number.size() == digits ? ParseNumber<uint32_t>(number, base) : std::nullopt;
    if (!code) return Bad(place_, fmt::format("the escape needs {} digits", digits));
    if (!AppendCharacter(text_, *code)) return Bad(place_, "the escape is the number of no character");
    place_ += skipped + digits;
    return {};
  }

  std::string_view body_;
  size_t place_ = 0;
  std::string text_;
};

// Returns the end of the text before the next brace, past doubled braces and escapes.
size_t TextEnd(const StringLiteral& literal, size_t place) {
  const std::string_view body = literal.body;
  for (; place < body.size(); ++place) {
    if (body[place] == '\\' && !literal.is_raw) {
      ++place;
    } else if (body[place] == '{' || body[place] == '}') {
      if (body.substr(place + 1, 1) != body.substr(place, 1)) return place;
      ++place;
    }
  }
  return body.size();
}

// Decodes a piece of text of an f-string, in which braces are doubled.
std::expected<std::string, LiteralMistake> DecodeText(const StringLiteral& literal, size_t begin, size_t end) {
  std::string text;
  for (size_t place = begin; place < end;) {
    const size_t brace = std::min(literal.body.find_first_of("{}", place), end);
    // A backslash in front of a brace is an unknown escape, as everywhere.
    auto piece = DecodeString(literal.body.substr(place, brace - place), literal.is_raw);
    if (!piece) return Bad(place + piece.error().offset, piece.error().message);
    text += *piece;
    if (brace < end) text.push_back(literal.body[brace]);
    place = brace + 2;
  }
  return text;
}

// Parses `name}` or `name!r}` behind an opening brace.
std::expected<FormatPart, LiteralMistake> ParseBraces(std::string_view body, size_t begin) {
  const size_t end = body.find('}', begin);
  if (end == std::string_view::npos) return Bad(begin - 1, "the brace is not closed; a brace is written as `{{`");
  std::string_view name = body.substr(begin, end - begin);
  FormatPart part{.kind = FormatPart::Kind::kStr, .offset = begin};
  if (name.ends_with("!r")) part.kind = FormatPart::Kind::kRepr;
  if (name.ends_with("!r") || name.ends_with("!s")) name.remove_suffix(2);
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (!IsName(name)) return Bad(begin, "only a name can stand in the braces of an f-string");
  part.text = name;
  return part;
}

}  // namespace

StringLiteral SplitString(std::string_view token) {
  StringLiteral literal;
  for (; token[0] != '"' && token[0] != '\''; token.remove_prefix(1)) {
    (token[0] == 'r' ? literal.is_raw : literal.is_format) = true;
  }
  const bool is_triple = token.size() >= 6 && token[1] == token[0] && token[2] == token[0];
  const size_t quotes = is_triple ? 3 : 1;
  literal.body = token.substr(quotes, token.size() - 2 * quotes);
  return literal;
}

std::expected<std::string, LiteralMistake> DecodeString(std::string_view body, bool is_raw) {
  if (!is_raw) return Decoder(body).Run();
  std::string text;
  for (size_t place = 0; place < body.size(); ++place) {
    if (!body.substr(place, 2).starts_with("\r\n")) text.push_back(body[place]);
  }
  return text;
}

std::expected<std::vector<FormatPart>, LiteralMistake> SplitFormat(const StringLiteral& literal) {
  std::vector<FormatPart> parts;
  for (size_t place = 0; place < literal.body.size();) {
    const size_t end = TextEnd(literal, place);
    TRY(std::string text, DecodeText(literal, place, end));
    if (!text.empty()) parts.push_back({FormatPart::Kind::kText, place, std::move(text)});
    if (end == literal.body.size()) break;
    if (literal.body[end] == '}') return Bad(end, "the brace closes nothing; a brace is written as `}}`");
    TRY(FormatPart part, ParseBraces(literal.body, end + 1));
    parts.push_back(std::move(part));
    place = literal.body.find('}', end) + 1;
  }
  return parts;
}

}  // namespace holdfast::starlark
