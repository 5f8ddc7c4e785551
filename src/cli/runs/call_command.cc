#include "cli/runs/commands.h"

#include <iostream>
#include <iterator>
#include <string>
#include <utility>

#include "cli/connect/invocation.h"
#include "cli/runs/run_session.h"
#include "cli/text/duration.h"
#include "wire/method_lists.h"

namespace holdfast::cli {
namespace {

std::string ParamsFrom(const Arguments& arguments) {
  std::string params = arguments.ValueOr("JSON", "{}");
  if (params == "-") params.assign(std::istreambuf_iterator<char>(std::cin), {});
  return params;
}

loop::Task<int> Call(Invocation& invocation) {
  const Arguments& arguments = invocation.arguments();
  client::CallOptions options;
  if (const auto text = arguments.Value("--timeout")) {
    const auto limit = ParseDuration(*text);
    if (!limit) co_return invocation.Complain("--timeout: " + limit.error().message, 2);
    options.timeout = *limit;
  }
  const auto name = arguments.Value("--name");
  auto client = name ? co_await JoinRun(invocation, *name, wire::SessionRole::kDriver)
                     : co_await invocation.Connect(Invocation::Starting::kOnDemand);
  if (!client) co_return invocation.Complain(client.error());
  const auto result = co_await client->CallText(arguments.ValueOr("METHOD", ""), ParamsFrom(arguments), options);
  if (!result) co_return invocation.Complain(result.error());
  PrintJson(*result);
  co_return 0;
}

}  // namespace

Command CallCommand() {
  return {.name = "call",
          .topic = Topic::kOther,
          .summary = "Calls a method of the protocol and prints its result as JSON.",
          .options = WithServerOptions(
              {{.flag = "--name",
                .value = "NAME",
                .help = "call it in the session of this run",
                .completes = Completes::kRun},
               {.flag = "--timeout", .value = "TIME", .help = "wait no longer than this for the answer"}}),
          .arguments = {{.name = "METHOD",
                         .help = "the method, such as environment/info",
                         .suggestions = {wire::kMethodNames.begin(), wire::kMethodNames.end()}},
                        {.name = "JSON",
                         .help = "its params as JSON; - reads them from standard input (default: {})",
                         .count = Argument::Count::kOptional}},
          .examples = {{"holdfast call environment/info", "Prints the description of the server's machine."},
                       {"holdfast call fs/getMetadata '{\"path\":\"/etc/passwd\"}'", "Calls a method with params."},
                       {"holdfast call --name web process/list", "Lists the processes of a run."}},
          .run = Remotely(Call)};
}

}  // namespace holdfast::cli
