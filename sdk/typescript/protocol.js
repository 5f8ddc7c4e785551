// The error codes of the protocol, and the methods that a connection may call which only observes a session.
// tools/generate_sdk has made this file from docs/openrpc.json.

export const ErrorCode = Object.freeze({
  NotJson: -32700,
  InvalidRequest: -32600,
  UnknownMethod: -32601,
  InvalidParams: -32602,
  Failed: -32603,
  NotFound: -32004,
  SessionAttached: -32010,
});

export const observerMethods = new Set([
  "initialize",
  "environment/info",
  "environment/status",
  "process/read",
  "process/wait",
  "process/snapshot",
  "process/list",
  "fs/readFile",
  "fs/getMetadata",
  "fs/canonicalize",
  "fs/readDirectory",
  "fs/walk",
  "fs/open",
  "fs/readBlock",
  "fs/close",
  "capabilityRoots/discoverV1",
  "capabilities/discoverV2",
  "environmentConfig/read",
  "session/takeOver",
  "session/list",
]);
