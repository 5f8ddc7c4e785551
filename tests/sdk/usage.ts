// A program that the compiler accepts, with mistakes that it has to find. tools/typescript_types compiles it; nobody runs it.
import { Client, connect, ErrorCode, RpcError, type ProcessEvent } from "./index.js";

const client: Client = await connect("ws://127.0.0.1:4500", { token: "t", approver: async () => ({ decision: "deny" }) });

const { stdout, exitCode } = await client.run(["make"], { cwd: "/src", limits: { wallMs: 1000 }, input: "text" });
const text: string = stdout.toString() + exitCode.toFixed();

const running = await client.start(["cat"], { stdin: true, terminal: { rows: 24, cols: 80 } });
for await (const event of running) show(event);

function show(event: ProcessEvent): string | number {
  switch (event.type) {
    case "output":
      return event.data.length + event.stream + text;
    case "exited":
      return event.cause === "wall" ? -1 : event.exitCode;
    case "lost":
      return event.toSeq;
    case "closed":
      return event.seq;
  }
}

const { processes } = await client.call("process/list");
const state: "starting" | "running" | "exited" | "closed" | undefined = processes[0]?.state;
await client.call("process/terminate", { processId: "p", mode: { graceful: { timeoutMs: 5 } } });
await client.call("process/start", { processId: "p", prepared: { program: "/bin/true", argv: ["true"], env: {}, cwd: "/" }, tty: false });
await client.call("process/start", { processId: "p", argv: ["true"], cwd: "/", env: {}, io: { pipe: { stdin: "open" } } });

// @ts-expect-error: there is no command
await client.call("process/start", { processId: "p", tty: false });
// @ts-expect-error: there is neither tty nor io
await client.call("process/start", { processId: "p", argv: ["true"], cwd: "/", env: {} });
// @ts-expect-error: there is no such mode
await client.call("process/terminate", { processId: "p", mode: "gently" });
// @ts-expect-error: there is no such method
await client.call("process/levitate", {});
// @ts-expect-error: there is no such state
const wrong: "asleep" = state;

if (new Error() instanceof RpcError) show({ type: "closed", seq: ErrorCode.NotFound });
export { wrong };
