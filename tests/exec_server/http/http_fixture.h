// HttpFixture is a server with one client, for the tests of http/request.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "exec_server/server_fixture.h"
#include "support/http_server.h"

namespace holdfast::exec_server {

using support::EchoRequest;
using support::HttpArrival;
using support::HttpPeer;
using support::HttpServer;

class HttpFixture : public ServerFixture {
 protected:
  static constexpr char kNobody[] = "http://127.0.0.1:1/";  // where no server is

  // Sets the variables in the constructor, because the server copies its environment when it boots.
  HttpFixture() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
    for (const auto& [name, value] : kVariables) ::setenv(name, value, 1);
  }
  ~HttpFixture() override {
    for (const auto& [name, value] : kVariables) ::unsetenv(name);
  }

  // Returns the first client. It connects at the first call, so a test can change the config before.
  Client& Me() { return clients_.empty() ? ConnectReady() : *clients_.front(); }

  // Returns the params of a request, with `more` as further members.
  static std::string Params(std::string_view method, std::string_view url, std::string_view more = "",
                            std::string_view id = "r") {
    return fmt::format(R"({{"requestId":{},"method":{},"url":{}{}{}}})", support::Quoted(id), support::Quoted(method),
                       support::Quoted(url), more.empty() ? "" : ",", more);
  }
  static std::string Get(std::string_view url, std::string_view more = "") { return Params("GET", url, more); }

  Message Request(std::string_view params) { return Call(Me(), "http/request", params); }
  int64_t CodeOf(std::string_view params) { return Request(params).error_code(); }

  bool RunUntilAnswered(Client& client, int id) {
    return RunUntil([&] { return client.AnswerTo(id).has_value(); });
  }
  bool RunUntilHangUp(const HttpServer& server) {
    return RunUntil([&] { return server.open_connections() == 0; });
  }

  // Returns the headers as "name: value", in the order in which they arrived.
  static std::vector<std::string> HeadersOf(const Message& answer) {
    std::vector<std::string> headers;
    for (size_t i = 0; i < answer.Size("result.headers"); ++i) {
      const std::string at = fmt::format("result.headers.{}.", i);
      headers.push_back(answer.Text(at + "name") + ": " + answer.Text(at + "value"));
    }
    return headers;
  }

  // This function and the next ones are scripts for an HttpServer. This one sends a body that never ends.
  static void Flood(const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\n\r\n");
    while (peer.Send(std::string(16u << 10, 'x'))) {
    }
  }
  static void SayNothing(const HttpArrival&, HttpPeer& peer) { peer.AwaitHangUp(); }
  static void SayHalf(const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf");
    peer.AwaitHangUp();
  }
  static void DieHalfway(const HttpArrival&, HttpPeer& peer) {
    peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf");
    peer.Close();
  }

 private:
  static constexpr std::pair<const char*, const char*> kVariables[] = {
      {"HOLDFAST_TEST_TOKEN", "s3cret"}, {"HOLDFAST_TEST_EMPTY", ""}, {"HOLDFAST_TEST_LINES", "s3cret\r\nX-More: 1"}};
};

}  // namespace holdfast::exec_server
