// Method names and what they run. A call has two halves, because params are decoded before anybody asks whether the
// client may call at all: Prepare decodes, the prepared call runs on a target (a session).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "rpc/reply.h"
#include "wire/decode.h"

namespace holdfast::rpc {

template <typename Target>
class MethodTable {
 public:
  using Call = std::move_only_function<void(Target&, PendingReply)>;
  using Prepare = std::function<Result<Call>(wire::Json params)>;

  template <typename Service, typename Params, typename T>
  void Bind(std::string name, Service& service, void (Service::*handler)(Target&, const Params&, Reply<T>)) {
    auto prepare = [&service, handler](wire::Json json) -> Result<Call> {
      TRY(Params params, wire::Decode<Params>(json));
      return Call([&service, handler, params = std::move(params)](Target& target, PendingReply reply) {
        (service.*handler)(target, params, Reply<T>(std::move(reply)));
      });
    };
    CHECK(methods_.emplace(std::move(name), std::move(prepare)).second);
  }

  // Null when there is no such method.
  const Prepare* Find(std::string_view name) const {
    auto it = methods_.find(name);
    return it != methods_.end() ? &it->second : nullptr;
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, prepare] : methods_) names.push_back(name);
    return names;
  }

 private:
  std::map<std::string, Prepare, std::less<>> methods_;
};

}  // namespace holdfast::rpc
