#include "exec_policy/starlark/token_stream.h"

#include <utility>

#include <fmt/format.h>

namespace holdfast::exec_policy {
namespace {

constexpr int kMaxNesting = 200;

std::string Found(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the file";
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
      return "an indented line";
    case TokenKind::kDedent:
      return "the end of the indented lines";
    case TokenKind::kString:
      return "a string";
    default:
      return fmt::format("`{}`", token.text);
  }
}

}  // namespace

bool TokenStream::NextIs(TokenKind kind) {
  if (!ahead_) ahead_ = lexer_.Next();
  return ahead_->kind == kind;
}

bool TokenStream::Take(TokenKind kind) {
  if (!Is(kind)) return false;
  Advance();
  return true;
}

Result<> TokenStream::Expect(TokenKind kind, std::string_view description) {
  if (!Take(kind)) return Unexpected(description);
  return {};
}

Result<std::string_view> TokenStream::ExpectName(std::string_view description) {
  const std::string_view name = token_.text;
  TRY_VOID(Expect(TokenKind::kName, description));
  return name;
}

std::unexpected<Error> TokenStream::Mistake(uint32_t offset, std::string message) {
  mistake_offset_ = offset;
  return Fail(ErrorKind::kInvalidParams, std::move(message));
}

std::unexpected<Error> TokenStream::Unexpected(std::string_view expected) {
  if (Is(TokenKind::kBad)) return Mistake(offset(), lexer_.mistake());
  return Mistake(offset(), fmt::format("expected {}, found {}", expected, Found(token_)));
}

Result<> Nesting::Add() {
  ++levels_;
  if (++tokens_.nesting_ <= kMaxNesting) return {};
  return tokens_.Mistake(tokens_.offset(), fmt::format("more than {} levels of nesting", kMaxNesting));
}

}  // namespace holdfast::exec_policy
