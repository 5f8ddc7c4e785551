// Works through `holdfast mcp-server` with the official SDK: node client.mjs SERVER WORK_FOLDER
// Each step makes a claim, and prints a line for it: PASS or FAIL.
import assert from "node:assert/strict";
import fs from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema, EmptyResultSchema } from "@modelcontextprotocol/sdk/types.js";

const [, , server, work] = process.argv;
const rules = `${work}/test.rules`;
fs.writeFileSync(rules, `
prefix_rule(pattern=["touch"], decision="allow")
prefix_rule(pattern=["mkdir"], decision="prompt", justification="It makes a directory.")
prefix_rule(pattern=["uname"], decision="forbidden", justification="The kernel is a secret.")
`);

let failed = 0;
async function step(claim, act) {
  try {
    await act();
    console.log(`PASS ${claim}`);
  } catch (problem) {
    failed += 1;
    console.log(`FAIL ${claim}: ${problem.stack}`);
  }
}

// Connects with a user that answers every question with `action`, and has seen `questions`.
async function connect({ action, capabilities = { elicitation: {} } } = {}) {
  const client = new Client({ name: "e2e", version: "1" }, { capabilities });
  const questions = [];
  if (capabilities.elicitation) {
    client.setRequestHandler(ElicitRequestSchema, async (request) => {
      questions.push(request.params.message);
      if (action === undefined) return new Promise(() => {});
      return action === "accept" ? { action, content: {} } : { action };
    });
  }
  const transport = new StdioClientTransport({ command: server, args: ["mcp-server", "--rules", rules], stderr: "inherit" });
  await client.connect(transport);
  return { client, questions, pid: transport.pid };
}

const call = (client, command, more = {}, options = {}) =>
  client.callTool({ name: "shell", arguments: { command, workdir: work, login: false, ...more } }, undefined, options);
const shell = async (...args) => JSON.parse((await call(...args)).content[0].text);
const gone = async (pid) => {
  for (let tries = 0; tries < 200 && fs.existsSync(`/proc/${pid}`); ++tries) await new Promise((done) => setTimeout(done, 25));
  assert.ok(!fs.existsSync(`/proc/${pid}`), `process ${pid} is alive`);
};

const one = await connect({ action: "accept" });
await step("the handshake tells the server's name", async () => assert.equal(one.client.getServerVersion().name, "holdfast"));
await step("the tool is listed with its schema", async () => {
  const { tools } = await one.client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["shell"]);
  assert.deepEqual(tools[0].inputSchema.required, ["command", "workdir"]);
});
await step("a ping is answered", async () => assert.deepEqual(await one.client.ping(), {}));
await step("a command returns its exit code and output", async () => {
  const result = await shell(one.client, "echo out; echo err >&2; exit 3");
  assert.equal(result.exit_code, 3);
  assert.equal(result.output, "out\nerr\n");
  assert.equal(result.timed_out, false);
});
await step("the result is structured, and its schema describes it", async () => {
  const result = await call(one.client, "echo out");
  assert.equal(result.structuredContent.output, "out\n");
  assert.deepEqual(result.structuredContent, JSON.parse(result.content[0].text));
});
await step("the sandbox refuses to write", async () => {
  assert.equal((await shell(one.client, "(echo > refused) 2>/dev/null; echo $?")).output, "1\n");
  assert.ok(!fs.existsSync(`${work}/refused`));
});
await step("a rule takes a command out of the sandbox", async () => {
  assert.equal((await shell(one.client, "touch allowed; echo $?")).output, "0\n");
  assert.ok(fs.existsSync(`${work}/allowed`));
});
await step("a rule forbids a command, also in another program", async () => {
  const { output } = await shell(one.client, `sh -c uname; echo $?`);
  assert.equal(output, "1\nExecution denied: The kernel is a secret.\n");
});
await step("an accepted question lets the command run", async () => {
  assert.equal((await shell(one.client, "mkdir accepted; echo $?")).output, "0\n");
  assert.ok(fs.existsSync(`${work}/accepted`));
  assert.equal(one.questions.length, 1);
  assert.match(one.questions[0], /^Allow agent to run `\S*\/mkdir accepted` in `\S*`\?\nIt will run outside of the sandbox\.\nIt makes a directory\.$/);
});
for (const [action, reason] of [["decline", "User declined execution"], ["cancel", "User cancelled execution"]]) {
  await step(`a question that is answered with ${action} denies the command`, async () => {
    const two = await connect({ action });
    const { output } = await shell(two.client, "mkdir refused; echo $?");
    assert.equal(output, `1\nExecution denied: ${reason}\n`);
    assert.ok(!fs.existsSync(`${work}/refused`));
    await two.client.close();
  });
}
await step("a client without elicitation is not asked", async () => {
  const two = await connect({ capabilities: {} });
  assert.match((await shell(two.client, "mkdir refused; echo $?")).output, /^1\nExecution denied: .*elicitation/);
  await two.client.close();
});
await step("progress arrives while the command runs", async () => {
  const seen = [];
  const onprogress = (progress) => seen.push(progress);
  const result = await shell(one.client, "for i in 1 2 3; do echo $i; sleep 0.3; done", {}, { onprogress });
  assert.equal(result.output, "1\n2\n3\n");
  assert.equal(seen.map((progress) => progress.message).join(""), "1\n2\n3\n");
  assert.ok(seen.length >= 2);
  assert.ok(seen.every((progress, i) => i === 0 || progress.progress > seen[i - 1].progress));
});
await step("a cancelled call is killed", async () => {
  const controller = new AbortController();
  let pid;
  const onprogress = ({ message }) => {
    pid = Number(message);
    controller.abort();
  };
  // Without a pid namespace, the shell knows itself by the number that others know it by.
  const sandboxPolicy = { type: "danger-full-access" };
  const update = { method: "codex/sandbox-state/update", params: { sandboxPolicy, sandboxCwd: work } };
  assert.deepEqual(await one.client.request(update, EmptyResultSchema), {});
  await assert.rejects(call(one.client, "echo $$; sleep 1000", { timeout_ms: 600000 }, { onprogress, signal: controller.signal }));
  await gone(pid);
});
await step("a time limit returns the output so far", async () => {
  const result = await shell(one.client, "echo begun; sleep 1000", { timeout_ms: 500 });
  assert.equal(result.timed_out, true);
  assert.equal(result.exit_code, 124);
  assert.equal(result.output, "begun\n");
});
await step("calls run side by side", async () => {
  const begin = Date.now();
  await Promise.all([1, 2, 3].map(() => shell(one.client, "sleep 1")));
  assert.ok(Date.now() - begin < 2500);
});
await step("a bad argument is an error", async () => {
  await assert.rejects(one.client.callTool({ name: "shell", arguments: { workdir: work } }), /command: is missing/);
  await assert.rejects(one.client.callTool({ name: "nope", arguments: {} }), /no tool "nope"/);
});
await step("the end of the client ends the server", async () => {
  const running = call(one.client, "sleep 1000", { timeout_ms: 600000 }).catch(() => {});
  await one.client.close();
  await running;
  await gone(one.pid);
});
console.log(failed === 0 ? "all passed" : `${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
