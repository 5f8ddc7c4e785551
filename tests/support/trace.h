// A trace is a conversation in a file: the messages of a client, and those that the server must send. Each line is one
// of these:
//
//   # a comment
//   ~ server --flag value      flags of the server; before anything else
//   ~ connect 2                opens a connection of that number and goes on there; 1 is open at the start
//   ~ use 1                    goes on with another connection
//   ~ disconnect               closes the connection in use, without a goodbye
//   > {json}                   the client sends this message
//   < {json}                   the next message of the server has at least these members with these values
//   {  ...  }                  the expectations between these two lines are met in any order
//
// In an expectation "*" stands for any value, "<absent>" for a missing member, "<base64:text>" for the base64 of a
// text, and "<set:name>" for any string, which "<get:name>" repeats later, also in messages of the client. <get:dir> is
// a directory of this trace, and <get:http> the URL of an HTTP server that echoes each request.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/channel.h"
#include "support/http_server.h"
#include "support/message.h"
#include "support/scratch_dir.h"
#include "wire/json.h"

namespace holdfast::support {

struct TraceLine {
  enum class Kind { kSend, kExpect, kControl, kOpenAnyOrder, kCloseAnyOrder };

  Kind kind;
  std::string text;
  size_t number;  // in the file
};

// Reads a trace. A line that is none of the above fails the test.
std::vector<TraceLine> ReadTrace(const std::string& path);

// Returns the words of the first "~ server" line.
std::vector<std::string> ServerFlagsOf(const std::vector<TraceLine>& trace);

// TracePlayer plays one trace against a server. At its end the server must have nothing more to send. If the
// environment has HOLDFAST_TRANSCRIPTS, a directory, each message that is sent or received becomes a line of a file
// there:
// {"connection", "sender", "text"}.
class TracePlayer {
 public:
  TracePlayer(std::string url, std::string file_name);

  void Play(const std::vector<TraceLine>& trace);

 private:
  using Names = std::map<std::string, std::string, std::less<>>;

  bool PlayLine(const TraceLine& line);
  bool Control(const std::string& words);
  bool MeetAll();
  void Record(const char* sender, const std::string& text);
  void ExpectSilence();
  std::string Filled(std::string text) const;

  const std::string url_, file_name_;
  std::ofstream transcript_;
  ScratchDir dir_;
  HttpServer http_{EchoRequest};
  std::map<std::string, std::unique_ptr<Channel>> connections_;
  std::string in_use_;
  Names names_;
  bool any_order_ = false;
  std::vector<std::string> awaited_;  // the expectations of the present any-order block
};

// Returns whether `actual` has at least the members and values of `wanted`. Adds to `names` what "<set:name>" stands
// for.
bool Matches(wire::Json wanted, wire::Json actual, std::map<std::string, std::string, std::less<>>& names);

}  // namespace holdfast::support
