#include "support/trace.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/environment_variable.h"
#include "support/test_socket.h"
#include "wire/json_text.h"

namespace holdfast::support {
namespace {

using Names = std::map<std::string, std::string, std::less<>>;
using Kind = TraceLine::Kind;

std::optional<Kind> KindOf(std::string_view line) {
  if (line == "{") return Kind::kOpenAnyOrder;
  if (line == "}") return Kind::kCloseAnyOrder;
  if (line.starts_with("> ")) return Kind::kSend;
  if (line.starts_with("< ")) return Kind::kExpect;
  if (line.starts_with("~ ")) return Kind::kControl;
  return std::nullopt;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// The text between "<verb:" and ">".
std::optional<std::string> Argument(std::string_view text, std::string_view verb) {
  const std::string head = "<" + std::string(verb) + ":";
  if (!text.starts_with(head) || !text.ends_with('>')) return std::nullopt;
  return std::string(text.substr(head.size(), text.size() - head.size() - 1));
}

bool TextMatches(std::string_view wanted, wire::Json actual, Names& names) {
  if (wanted == "*") return !actual.is_absent();
  if (wanted == "<absent>") return actual.is_absent();
  const auto text = actual.string();
  if (!text) return false;
  if (const auto bytes = Argument(wanted, "base64")) return *text == Base64(*bytes);
  if (const auto name = Argument(wanted, "set")) {
    names.insert_or_assign(*name, std::string(*text));
    return true;
  }
  return *text == wanted;
}

bool ObjectMatches(wire::Json wanted, wire::Json actual, Names& names) {
  bool all = actual.is_object();
  wanted.ForEachMember(
      [&](std::string_view key, wire::Json value) { all = all && Matches(value, actual.Find(key), names); });
  return all;
}

bool ArrayMatches(wire::Json wanted, wire::Json actual, Names& names) {
  if (!actual.is_array() || actual.size() != wanted.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!Matches(wanted.at(i), actual.at(i), names)) return false;
  }
  return true;
}

}  // namespace

bool Matches(wire::Json wanted, wire::Json actual, Names& names) {
  if (wanted.is_object()) return ObjectMatches(wanted, actual, names);
  if (wanted.is_array()) return ArrayMatches(wanted, actual, names);
  if (const auto text = wanted.string()) return TextMatches(*text, actual, names);
  if (wanted.is_null()) return !actual.is_absent() && actual.is_null();
  if (const auto flag = wanted.boolean()) return actual.boolean() == flag;
  return wanted.int64() && actual.int64() == wanted.int64();
}

std::vector<TraceLine> ReadTrace(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << "no file " << path;
  std::vector<TraceLine> lines;
  std::string text;
  for (size_t number = 1; std::getline(file, text); ++number) {
    if (text.empty() || text.starts_with('#')) continue;
    const auto kind = KindOf(text);
    EXPECT_TRUE(kind) << path << ":" << number << ": what is this? " << text;
    if (kind) lines.push_back({*kind, text.size() > 2 ? text.substr(2) : "", number});
  }
  return lines;
}

std::vector<std::string> ServerFlagsOf(const std::vector<TraceLine>& trace) {
  for (const TraceLine& line : trace) {
    if (line.kind != Kind::kControl || !line.text.starts_with("server ")) continue;
    return Words(line.text.substr(line.text.find(' ')));
  }
  return {};
}

TracePlayer::TracePlayer(std::string url, std::string file_name)
    : url_(std::move(url)), file_name_(std::move(file_name)), names_{{"dir", dir_.path()}, {"http", http_.Url("")}} {
  if (const auto directory = EnvironmentVariable("HOLDFAST_TRANSCRIPTS")) {
    transcript_.open(*directory + "/" + file_name_ + ".jsonl");
  }
}

void TracePlayer::Play(const std::vector<TraceLine>& trace) {
  Control("connect 1");
  for (const TraceLine& line : trace) {
    if (PlayLine(line)) continue;
    ADD_FAILURE() << "at " << file_name_ << ":" << line.number << ": " << line.text;
    return;
  }
  ExpectSilence();
}

bool TracePlayer::PlayLine(const TraceLine& line) {
  switch (line.kind) {
    case Kind::kSend:
      Record("client", Filled(line.text));
      return connections_.at(in_use_)->Send(Filled(line.text));
    case Kind::kExpect:
      awaited_.push_back(Filled(line.text));
      return any_order_ || MeetAll();
    case Kind::kControl:
      return Control(line.text);
    case Kind::kOpenAnyOrder:
      any_order_ = true;
      return true;
    case Kind::kCloseAnyOrder:
      any_order_ = false;
      return MeetAll();
  }
  return false;
}

bool TracePlayer::Control(const std::string& text) {
  const std::vector<std::string> words = Words(text);
  if (words[0] == "server") return true;
  if (words[0] == "disconnect") {
    connections_.erase(in_use_);
    return true;
  }
  if (words.size() != 2) return false;
  in_use_ = words[1];
  if (words[0] == "use") return connections_.contains(in_use_);
  if (words[0] == "connect") return connections_.emplace(in_use_, OpenChannel(url_)).second;
  return false;
}

// Each message that comes meets one of the awaited expectations, until none is left.
bool TracePlayer::MeetAll() {
  while (!awaited_.empty()) {
    const auto received = connections_.at(in_use_)->Receive(kPatience);
    if (!received) {
      ADD_FAILURE() << "expected a message, and none came";
      return false;
    }
    Record("server", *received);
    const Message actual(*received);
    const auto met = std::ranges::find_if(
        awaited_, [&](const std::string& wanted) { return Matches(Message(wanted).json(), actual.json(), names_); });
    if (met == awaited_.end()) {
      ADD_FAILURE() << "the server said " << actual;
      return false;
    }
    awaited_.erase(met);
  }
  return true;
}

void TracePlayer::Record(const char* sender, const std::string& text) {
  if (!transcript_.is_open()) return;
  std::string quoted;
  wire::AppendString(quoted, text);
  transcript_ << R"({"connection":")" << in_use_ << R"(","sender":")" << sender << R"(","text":)" << quoted << "}\n";
}

// Sends a request that every server answers: anything that the server still had to send would come before the answer.
void TracePlayer::ExpectSilence() {
  for (auto& [number, connection] : connections_) {
    in_use_ = number;
    connection->Send(R"({"id":"end","method":"no such method"})");
    awaited_ = {R"({"id":"end","error":{"code":-32601}})"};
    if (!MeetAll()) ADD_FAILURE() << "at the end of " << file_name_;
  }
}

std::string TracePlayer::Filled(std::string text) const {
  for (const auto& [name, value] : names_) {
    const std::string mark = "<get:" + name + ">";
    for (size_t at; (at = text.find(mark)) != std::string::npos;) text.replace(at, mark.size(), value);
  }
  return text;
}

}  // namespace holdfast::support
