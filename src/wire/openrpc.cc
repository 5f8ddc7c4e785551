#include "wire/openrpc.h"

#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/version.h"
#include "wire/decode.h"
#include "wire/error_code.h"
#include "wire/indented_json.h"
#include "wire/json.h"
#include "wire/json_text.h"
#include "wire/method_lists.h"
#include "wire/schema.h"

namespace holdfast::wire {
namespace {

constexpr std::string_view kDescription =
    "JSON-RPC without the member jsonrpc: a request is {id, method, params}, its answer {id, result} or {id, error}, "
    "and "
    "a notification has no id. Params are always an object. A method without a result is a notification. x-sender "
    "tells "
    "which side sends a request or a notification, x-observer whether a connection that only observes a session may "
    "call "
    "the method, x-params is the schema of the whole params, and x-params-optional tells whether they may be absent. "
    "Any "
    "method may be answered with any of the errors. Schemas of what the server sends require what this server always "
    "sends; older servers send less. docs/PROTOCOL.md says what everything means.";

std::string Quoted(std::string_view text) {
  std::string out;
  AppendString(out, text);
  return out;
}

constexpr std::string_view NameOf(Sender sender) { return sender == Sender::kClient ? "client" : "server"; }
constexpr Sender PeerOf(Sender sender) { return sender == Sender::kClient ? Sender::kServer : Sender::kClient; }

class MethodDescriber {
 public:
  template <typename Type>
  void Notification(Sender sender) {
    methods_.push_back(Begin<Type>(sender) + "}");
  }

  template <typename Type>
  void Method(Sender sender) {
    const bool observer = Type::kCaller == Caller::kDriverOrObserver;
    std::string text = Begin<Type>(sender);
    if (sender == Sender::kClient) text += fmt::format(R"(,"x-observer":{})", observer);
    const std::string result = book_.Of<typename Type::Result>(PeerOf(sender));
    methods_.push_back(text + fmt::format(R"(,"result":{{"name":"result","schema":{}}}}})", result));
  }

  std::string Methods() const { return fmt::format("[{}]", fmt::join(methods_, ",")); }

  std::string Schemas() const {
    std::vector<std::string> schemas;
    schemas.reserve(book_.named().size());
    for (const auto& [name, schema] : book_.named()) schemas.push_back(Quoted(name) + ":" + schema);
    return fmt::format("{{{}}}", fmt::join(schemas, ","));
  }

 private:
  // Returns an object with the name and the params, which the caller closes.
  template <typename Type>
  std::string Begin(Sender sender) {
    using Params = typename Type::Params;
    const std::string schema = book_.Of<Params>(sender);
    return fmt::format(
        R"({{"name":{},"x-sender":"{}","paramStructure":"by-name","params":{},"x-params":{},"x-params-optional":{})",
        Quoted(Type::kName), NameOf(sender), MembersOf(NameOfType<Params>()), schema, CallableBare<Params>);
  }

  // Lists the members of a struct as OpenRPC wants params. Each schema stands once, in the struct.
  std::string MembersOf(std::string_view type) const {
    std::vector<std::string> members;
    members.reserve(book_.MembersOf(type).size());
    for (const MemberSchema& member : book_.MembersOf(type)) {
      const auto place = fmt::format("#/components/schemas/{}/properties/{}", type, member.name);
      members.push_back(fmt::format(R"({{"name":{},"required":{},"schema":{{"$ref":{}}}}})", Quoted(member.name),
                                    member.required, Quoted(place)));
    }
    return fmt::format("[{}]", fmt::join(members, ","));
  }

  SchemaBook book_;
  std::vector<std::string> methods_;
};

std::string Errors() {
  std::vector<std::string> errors;
  errors.reserve(std::size(kKnownErrors));
  for (const KnownError& error : kKnownErrors) {
    const std::string_view kind = ErrorName(error.kind);
    const std::string data = kind.empty() ? "" : fmt::format(R"(,"data":{{"kind":{}}})", Quoted(kind));
    errors.push_back(fmt::format(R"({}:{{"code":{},"message":{}{}}})", Quoted(error.name), ErrorCode(error.kind),
                                 Quoted(error.meaning), data));
  }
  return fmt::format("{{{}}}", fmt::join(errors, ","));
}

}  // namespace

std::string OpenRpcDocument() {
  MethodDescriber describer;
  describer.Method<Initialize>(Sender::kClient);
  SessionMethods::ForEach([&]<typename Type>() { describer.Method<Type>(Sender::kClient); });
  ServerMethods::ForEach([&]<typename Type>() { describer.Method<Type>(Sender::kServer); });
  ClientNotifications::ForEach([&]<typename Type>() { describer.Notification<Type>(Sender::kClient); });
  ServerNotifications::ForEach([&]<typename Type>() { describer.Notification<Type>(Sender::kServer); });
  const std::string text = fmt::format(
      R"({{"openrpc":"1.3.2","info":{{"title":"holdfast exec-server","version":{},"description":{}}},"methods":{},)"
      R"("components":{{"schemas":{},"errors":{}}}}})",
      Quoted(kVersion), Quoted(kDescription), describer.Methods(), describer.Schemas(), Errors());
  Document document;
  const auto json = document.Parse(text);
  CHECK(json);
  return IndentedJson(*json) + "\n";
}

}  // namespace holdfast::wire
