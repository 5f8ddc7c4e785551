#include "support/rpc_client.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/server_process.h"

namespace holdfast::support {
namespace {

using Clock = std::chrono::steady_clock;

bool IsAbout(const Message& notification, std::string_view method, std::string_view process_id) {
  return notification.Text("method") == method && notification.Text("params.processId") == process_id;
}

// "NAME=value" as a member of a JSON object.
std::string EnvMember(const std::string& assignment) {
  const size_t equals = assignment.find('=');
  return Quoted(assignment.substr(0, equals)) + ":" + Quoted(assignment.substr(equals + 1));
}

std::string Joined(std::string_view members, std::string_view more) {
  return fmt::format("{{{}{}{}}}", members, more.empty() ? "" : ",", more);
}

}  // namespace

std::string StartRequest::Params() const {
  std::string words;
  for (const std::string& word : argv) words += (words.empty() ? "" : ",") + Quoted(word);
  std::string members = fmt::format(R"("processId":{},"argv":[{}],"cwd":{},"tty":{},"pipeStdin":{})", Quoted(id), words,
                                    Quoted(cwd), tty, pipe_stdin);
  if (!more.contains(R"("env":)")) {
    members += R"(,"env":{"PATH":"/usr/local/bin:/usr/bin:/bin",)" + EnvMember(RunMarker()) + "}";
  }
  return Joined(members, more);
}

StartRequest Shell(std::string id, std::string script, Stdin input) {
  return {.id = std::move(id), .argv = {"sh", "-c", std::move(script)}, .pipe_stdin = input == Stdin::kPipe};
}

StartRequest Terminal(std::string id, std::string script) {
  return {.id = std::move(id), .argv = {"sh", "-c", std::move(script)}, .tty = true};
}

std::string IdParams(std::string_view process_id, std::string_view more) {
  return Joined(R"("processId":)" + Quoted(process_id), more);
}

std::string WriteParams(std::string_view process_id, std::string_view bytes, std::string_view more) {
  return Joined(fmt::format(R"("processId":{},"chunk":"{}")", Quoted(process_id), Base64(bytes)), more);
}

RpcClient RpcClient::Ready(std::string_view url, std::string_view more_params) {
  RpcClient client(OpenChannel(url));
  client.Handshake(more_params);
  return client;
}

RpcClient RpcClient::Resumed(std::string_view url, std::string_view session_id) {
  return Ready(url, R"("resumeSessionId":)" + Quoted(session_id));
}

Message RpcClient::Initialize(std::string_view more_params) {
  if (more_params.contains("resumeSessionId")) first_seq_ = 0;
  Message answer = Call("initialize", Joined(R"("clientName":"integration test")", more_params));
  if (answer.Has("result")) session_id_ = answer.Text("result.sessionId");
  return answer;
}

void RpcClient::Handshake(std::string_view more_params) {
  const Message answer = Initialize(more_params);
  EXPECT_TRUE(answer.Has("result")) << answer;
  Notify("initialized");
}

int64_t RpcClient::Send(std::string_view method, std::string_view params) {
  const int64_t id = next_id_++;
  channel_->Send(fmt::format(R"({{"id":{},"method":"{}","params":{}}})", id, method, params));
  return id;
}

void RpcClient::Notify(std::string_view method, std::string_view params) {
  channel_->Send(fmt::format(R"({{"method":"{}","params":{}}})", method, params));
}

Message RpcClient::Await(int64_t id, std::chrono::milliseconds timeout) {
  if (!PumpUntil([&] { return answers_.contains(id); }, timeout)) {
    ADD_FAILURE() << "no answer to request " << id;
    return Message();
  }
  return std::move(answers_.extract(id).mapped());
}

void RpcClient::Start(const StartRequest& request) {
  const Message answer = Call("process/start", request.Params());
  EXPECT_TRUE(answer.Has("result")) << answer;
}

void RpcClient::Write(std::string_view process_id, std::string_view bytes) {
  EXPECT_EQ(Call("process/write", WriteParams(process_id, bytes)).Text("result.status"), "accepted");
}

void RpcClient::CloseStdin(std::string_view process_id) {
  EXPECT_TRUE(Call("process/closeStdin", IdParams(process_id)).Has("result"));
}

bool RpcClient::HasNotification(std::string_view method, std::string_view process_id) const {
  return std::ranges::any_of(notifications_, [&](const Message& n) { return IsAbout(n, method, process_id); });
}

Message RpcClient::WaitForNotification(std::string_view method, std::string_view process_id,
                                       std::chrono::milliseconds timeout) {
  if (!PumpUntil([&] { return HasNotification(method, process_id); }, timeout)) {
    ADD_FAILURE() << "no " << method << " of " << process_id << (ended() ? ": the connection has ended" : "");
    return Message();
  }
  const auto it =
      std::ranges::find_if(notifications_, [&](const Message& n) { return IsAbout(n, method, process_id); });
  Message notification = std::move(*it);
  notifications_.erase(it);
  return notification;
}

int64_t RpcClient::WaitForExit(std::string_view process_id) {
  return WaitForNotification("process/exited", process_id).Number("params.exitCode");
}

std::string RpcClient::WaitForClosed(std::string_view process_id, std::chrono::milliseconds timeout) {
  (void)WaitForNotification("process/closed", process_id, timeout);  // says itself what failed
  return Output(process_id);
}

std::string RpcClient::WaitForOutput(std::string_view process_id, std::string_view text,
                                     std::chrono::milliseconds timeout) {
  const auto it = events_.try_emplace(std::string(process_id), Events{.next_seq = first_seq_}).first;
  const bool found = PumpUntil([&] { return it->second.all_output.contains(text); }, timeout);
  EXPECT_TRUE(found) << process_id << " has not written " << text << " but " << it->second.all_output.substr(0, 500);
  return it->second.all_output;
}

std::string RpcClient::Output(std::string_view process_id, std::string_view stream) const {
  const auto events = events_.find(process_id);
  if (events == events_.end()) return "";
  if (stream.empty()) return events->second.all_output;
  const auto output = events->second.output.find(stream);
  return output == events->second.output.end() ? "" : output->second;
}

size_t RpcClient::OutputBytes(std::string_view process_id) const {
  const auto events = events_.find(process_id);
  return events == events_.end() ? 0 : events->second.all_output.size();
}

template <typename Condition>
bool RpcClient::PumpUntil(Condition condition, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  while (!condition()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (ended() || left.count() <= 0) return false;
    Pump(left);
  }
  return true;
}

bool RpcClient::WaitForEnd(std::chrono::milliseconds timeout) {
  return PumpUntil([this] { return ended(); }, timeout);
}

bool RpcClient::Pump(std::chrono::milliseconds timeout) {
  std::optional<std::string> text = channel_->Receive(timeout);
  if (text) Take(Message(*std::move(text)));
  return text.has_value();
}

void RpcClient::Drain() {
  constexpr int kMaxMessages = 12;
  for (int i = 0; i < kMaxMessages && Pump(std::chrono::milliseconds(0)); ++i) continue;
  answers_.clear();
  notifications_.clear();
  for (auto& [id, events] : events_) events = {.next_seq = events.next_seq};
}

void RpcClient::Take(Message message) {
  if (message.Has("method")) return TakeEvent(std::move(message));
  const int64_t id = message.Number("id");
  EXPECT_TRUE(answers_.try_emplace(id, std::move(message)).second) << "a second answer to " << id;
}

void RpcClient::TakeEvent(Message event) {
  const std::string process_id = event.Text("params.processId");
  if (!event.Has("params.seq")) return notifications_.push_back(std::move(event));
  Events& events = events_.try_emplace(process_id, Events{.next_seq = first_seq_}).first->second;
  const auto seq = static_cast<uint64_t>(event.Number("params.seq"));
  if (events.next_seq != 0) EXPECT_EQ(seq, events.next_seq) << event;
  events.next_seq = seq + 1;
  if (event.Text("method") == "process/output") {
    const std::string bytes = event.Bytes("params.chunk");
    events.all_output += bytes;
    events.output[event.Text("params.stream")] += bytes;
  } else {
    if (event.Text("method") == "process/closed") events.next_seq = 1;  // the id may be used again
    notifications_.push_back(std::move(event));
  }
}

}  // namespace holdfast::support
