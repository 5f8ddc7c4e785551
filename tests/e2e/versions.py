"""What published clients do, and since when. All that this folder knows about versions stands here.

The minor version of each feature was found by running that version and the one before it.
"""
import dataclasses

PACKAGE = "@openai/codex"
DEFAULT = ("0.130.0", "0.136.0", "0.142.5", "0.150.0", "0.157.0", "0.161.0", "0.166.0", "0.169.0")


@dataclasses.dataclass(frozen=True)
class Feature:
    since: int  # 142 stands for 0.142.0 and later
    what: str   # completes "only clients since 0.142 ..."


# Every client has this one: without it the scripted model would have to speak another way.
MODEL = Feature(125, "know the model gpt-5.5, whose patches are not function calls")
ENVIRONMENTS_FILE = Feature(131, "read environments.toml")
# Before, an MCP server has `experimental_environment` and no `cwd`.
MCP_ENVIRONMENT_ID = Feature(134, "place an MCP server by `environment_id` and `cwd`")
NEW_CONNECTION = Feature(134, "connect again when the connection is lost")
# Before, the namespace ends in two underscores.
MCP_PLAIN_NAMESPACE = Feature(135, "call the tools of the MCP server `e2e` by the namespace `mcp__e2e`")
RESUME = Feature(142, "go on with their session when the connection is lost")
# Before, the command that the client sends is its own sandbox helper with the command behind it. If a command that this
# helper denied something is approved, the client starts it again under the same process id, which any server refuses.
SERVER_SANDBOX = Feature(142, "leave the sandbox of a command to the server")
# Before, the key in environments.toml is an error.
BEARER_TOKEN = Feature(158, "send the `auth_bearer_token` of environments.toml")
# Before, `on-failure` is a policy; since then it is refused.
GRANULAR_APPROVALS = Feature(143, "have the kinds of approvals named one by one")
# Both are experiments, which the client's own configuration switches on.
SELECTED_ROOTS = Feature(145, "ask the server for the skills and plugins in the directories that the user selects")
INSTALLED_CAPABILITIES = Feature(164, "ask the server for the skills and plugins that are installed there")
