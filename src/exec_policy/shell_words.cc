#include "exec_policy/shell_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/ascii.h"
#include "exec_policy/assignment.h"

namespace holdfast::exec_policy {
namespace {

constexpr std::string_view kBlanks = " \t\n", kOperators = ";&|()<>`\n";
// The characters that a backslash escapes in double quotes.
constexpr std::string_view kEscapedInQuotes = "$`\"\\\n";

struct Token {
  enum class Kind { kWord, kOperator, kEnd, kBroken };

  Kind kind = Kind::kEnd;
  std::string text = {};
  bool is_quoted = false;  // some part of the word is quoted, so the word is not a keyword
};

// The scanner of one text. With operators, an unquoted character of kOperators is a token of its own.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view operators) : rest_(text), operators_(operators) {}

  Token Next() {
    SkipBlanksAndComments();
    if (rest_.empty()) return {};
    if (operators_.contains(rest_.front())) return {.kind = Token::Kind::kOperator, .text = {Take()}};
    Token word{.kind = Token::Kind::kWord};
    while (!rest_.empty() && !EndsWord(rest_.front())) {
      if (!ReadPart(word)) return {.kind = Token::Kind::kBroken};
    }
    return word;
  }

 private:
  char Take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  bool EndsWord(char c) const { return kBlanks.contains(c) || operators_.contains(c); }

  void SkipBlanksAndComments() {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (kBlanks.contains(rest_.front()) && !operators_.contains(rest_.front())) {
        rest_.remove_prefix(1);
      } else if (rest_.starts_with("\\\n")) {
        rest_.remove_prefix(2);
      } else {
        return;
      }
    }
  }

  // Reads one character of a word, or one quoted part. Returns whether it is complete.
  bool ReadPart(Token& word) {
    const char c = Take();
    if (c == '\'') return ReadSingleQuoted(word);
    if (c == '"') return ReadDoubleQuoted(word);
    if (c != '\\') {
      word.text += c;
      return true;
    }
    if (rest_.empty()) return false;
    const char escaped = Take();
    if (escaped != '\n') word.text += escaped;
    word.is_quoted = true;
    return true;
  }

  bool ReadSingleQuoted(Token& word) {
    const size_t end = rest_.find('\'');
    if (end == std::string_view::npos) return false;
    word.text += rest_.substr(0, end);
    word.is_quoted = true;
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool ReadDoubleQuoted(Token& word) {
    word.is_quoted = true;
    while (!rest_.empty()) {
      const char c = Take();
      if (c == '"') return true;
      if (c != '\\' || rest_.empty() || !kEscapedInQuotes.contains(rest_.front())) {
        word.text += c;
      } else if (const char escaped = Take(); escaped != '\n') {
        word.text += escaped;
      }
    }
    return false;
  }

  std::string_view rest_, operators_;
};

bool IsKeyword(std::string_view word) {
  constexpr std::array<std::string_view, 13> kKeywords = {"if", "then", "elif", "else", "while", "until", "do",
                                                          "{",  "!",    "time", "fi",   "done",  "}"};
  return std::ranges::find(kKeywords, word) != kKeywords.end();
}

// The commands of a script, as its tokens come.
class ScriptReader {
 public:
  void Read(Token token) {
    if (token.kind == Token::Kind::kOperator) return ReadOperator(token.text.front());
    if (std::exchange(is_target_, false)) return;
    const bool is_prefix = command_.empty() && !token.is_quoted && (IsKeyword(token.text) || IsAssignment(token.text));
    if (!is_prefix) command_.push_back(std::move(token.text));
  }

  std::vector<std::vector<std::string>> Finish() && {
    EndCommand();
    return std::move(commands_);
  }

 private:
  void ReadOperator(char c) {
    if (c == '<' || c == '>') {
      is_target_ = true;
    } else if (c == '&' && is_target_) {
      return;  // `>&2`
    } else {
      EndCommand();
    }
  }

  void EndCommand() {
    is_target_ = false;
    if (!command_.empty()) commands_.push_back(std::exchange(command_, {}));
  }

  std::vector<std::string> command_;
  std::vector<std::vector<std::string>> commands_;
  bool is_target_ = false;  // the next word is the file of a redirection
};

// Returns whether no shell reads anything but this word in the text.
bool IsPlain(std::string_view word) {
  constexpr std::string_view kMarks = "_@%+=:,./-";
  return !word.empty() && std::ranges::all_of(word, [&](char c) {
    const char lower = AsciiLower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || kMarks.contains(c);
  });
}

}  // namespace

std::optional<std::vector<std::string>> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  Scanner scanner(text, "");
  for (Token token = scanner.Next(); token.kind != Token::Kind::kEnd; token = scanner.Next()) {
    if (token.kind == Token::Kind::kBroken) return std::nullopt;
    words.push_back(std::move(token.text));
  }
  return words;
}

std::string JoinWords(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (IsPlain(word)) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char c : word) text += c == '\'' ? R"('\'')" : std::string(1, c);
    text += '\'';
  }
  return text;
}

std::optional<std::vector<std::vector<std::string>>> SplitScript(std::string_view script) {
  ScriptReader reader;
  Scanner scanner(script, kOperators);
  for (Token token = scanner.Next(); token.kind != Token::Kind::kEnd; token = scanner.Next()) {
    if (token.kind == Token::Kind::kBroken) return std::nullopt;
    reader.Read(std::move(token));
  }
  return std::move(reader).Finish();
}

}  // namespace holdfast::exec_policy
