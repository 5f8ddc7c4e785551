// What the TypeScript client does in the tests: node scenarios.mjs NAME URL [ARGUMENT]. typescript_test.py runs the server, and cuts the
// connections. A scenario that fails ends with an exception.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Client, Disconnected, ErrorCode, RpcError, TimedOut, connect } from "../../sdk/typescript/index.js";

const [name, url, argument] = process.argv.slice(2);

const told = async (word) => {
  console.log(word);
  await once(process.stdin, "data");
};
const numbers = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => `${first + i}\n`).join("");

async function commands() {
  const client = await connect(url);
  const done = await client.run(["sh", "-c", "cat; echo oops >&2; exit 3"], { input: "in" });
  assert.deepEqual([String(done.stdout), String(done.stderr), done.exitCode, done.lost], ["in", "oops\n", 3, false]);
  assert.equal(String((await client.run(["/usr/bin/env"], { env: { A: "1" }, cleanEnv: true })).stdout), "A=1\n");
  assert.equal(String((await client.run(["pwd"], { cwd: argument })).stdout), `${argument}\n`);
  const limited = await client.run(["sleep", "1000"], { limits: { wallMs: 1 } });
  assert.deepEqual([limited.exitCode, limited.cause], [143, "wall"]);
  assert.equal((await client.run(["true"], { input: new Uint8Array(1 << 20) })).exitCode, 0);

  const echo = await client.start(["sh", "-c", "while read n; do echo got $n; done; exit 4"], { stdin: true });
  const events = echo[Symbol.asyncIterator]();
  for (let n = 0; n < 3; ++n) {
    await echo.write(`${n}\n`);
    assert.equal(String((await events.next()).value.data), `got ${n}\n`);
  }
  await echo.closeStdin();
  const types = [];
  for await (const event of events) types.push(event.type);
  assert.deepEqual(types, ["exited", "closed"]);
  assert.equal((await echo.wait()).exitCode, 4);

  const terminal = await client.start(["sh", "-c", "read x; stty size; sleep 1000"], { stdin: true, terminal: { rows: 30, cols: 90 } });
  await terminal.resize(40, 100);
  await terminal.write("\n");
  let text = "";
  for await (const event of terminal) {
    if (event.type === "output") text += event.data;
    if (event.type === "output" && text.includes("40 100")) await terminal.terminate();
  }
  assert.equal(terminal.exited.exitCode, 137);
  const sleeping = await client.start(["sleep", "1000"]);
  await assert.rejects(client.call("process/wait", { processId: sleeping.processId }, { timeoutMs: 50 }), TimedOut);
  await sleeping.signal("SIGINT");
  assert.equal((await sleeping.wait()).exitCode, 130);
  await assert.rejects(client.start(["/no/such/program"]), (error) => error.code === ErrorCode.Failed && error.kind === "noSuchProgram");
  client.close();
  await assert.rejects(client.call("environment/status"), Disconnected);
}

async function files() {
  const client = await connect(url);
  const path = `${argument}/a/b`;
  await client.files.makeDirectory(`${argument}/a`);
  for (const data of [Buffer.from("small"), Buffer.alloc(9 << 20, "0123456789abcdefg")]) {
    await client.files.write(path, data);
    assert.ok((await client.files.read(path)).equals(data));
  }
  await client.files.write(path, "whole", { atomic: true });
  assert.equal((await client.files.metadata(path)).size, 5);
  assert.deepEqual(await client.files.list(`${argument}/a`), [{ fileName: "b", isDirectory: false, isFile: true }]);
  await assert.rejects(client.files.remove(`${argument}/a`), RpcError);
  await client.files.remove(`${argument}/a`, { recursive: true });
  await assert.rejects(client.files.read(path), (error) => error.code === ErrorCode.NotFound);
  client.close();
}

async function approvals() {
  writeFileSync(`${argument}/team.rules`, 'prefix_rule(pattern=["/usr/bin/id"], decision="prompt", justification="Ask.")\n');
  const execPolicy = { rules: [`${argument}/team.rules`] };
  const asked = [];
  const approver = async (question) => {
    asked.push(question.argv[1]);
    return { decision: asked.length > 1 ? "deny" : question.proposed };
  };
  const client = await connect(url, { approver });
  assert.equal((await client.run(["/usr/bin/id", "-u"], { execPolicy })).exitCode, 0);
  assert.equal((await client.run(["/usr/bin/id", "-g"], { execPolicy })).exitCode, 1);
  assert.deepEqual(asked, ["-u", "-g"]);
  client.close();
  const silent = await connect(url);
  assert.equal((await silent.run(["/usr/bin/id"], { execPolicy })).exitCode, 1);
  silent.close();
}

async function converse(client, n) {
  if (n % 4 === 0) return [await client.run(["seq", `${n}`, `${n + 2000}`]), numbers(n, n + 2000), "", 0];
  if (n % 4 === 1) {
    let data = "";
    while (data.length < 40_000) data += createHash("sha256").update(`${n} ${data.length}`).digest("hex");
    return [await client.run(["cat"], { input: data }), data, "", 0];
  }
  if (n % 4 === 2) return [await client.run(["sh", "-c", `echo out; echo err >&2; exit ${n}`]), "out\n", "err\n", n];
  const process = await client.start(["sh", "-c", "while read x; do echo $x; done"], { stdin: true });
  for (let i = 1; i <= 10; ++i) await process.write(`${i}\n`);
  await process.closeStdin();
  return [await process.communicate(), numbers(1, 10), "", 0];
}

async function conversation() {
  const client = await connect(url, { callTimeoutMs: 120_000 });
  let next = 0;
  const work = async () => {
    while (next < Number(argument)) {
      const n = next++;
      const [done, stdout, stderr, exitCode] = await converse(client, n);
      assert.equal(String(done.stdout), stdout, `command ${n}`);
      assert.deepEqual([String(done.stderr), done.exitCode, done.lost], [stderr, exitCode, false], `command ${n}`);
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  const { processes } = await client.call("process/list");
  assert.ok(processes.every(({ state }) => state === "closed"));
  assert.equal(processes.length, Number(argument));
  client.close();
}

async function startsOnce() {
  const client = await connect(url, { callTimeoutMs: 120_000 });
  for (let n = 0; n < 20; ++n) {
    const done = await client.run(["sh", "-c", `echo ${n} >> ${argument}/log; echo ${"x".repeat(500)}`]);
    assert.equal(done.exitCode, 0);
  }
  assert.equal(readFileSync(`${argument}/log`, "utf8"), numbers(0, 19));
  client.close();
}

async function lostOutput() {
  const client = await connect(url);
  const process = await client.start(["sh", "-c", "echo first; until [ -e go ]; do sleep 0.05; done; seq 100000; touch done"], { cwd: argument });
  const events = process[Symbol.asyncIterator]();
  assert.equal(String((await events.next()).value.data), "first\n");
  await told("started");
  const rest = [];
  for await (const event of events) rest.push(event);
  assert.equal(rest[0].type, "lost");
  const text = rest.flatMap((event) => (event.type === "output" ? [String(event.data)] : [])).join("");
  assert.ok(text.endsWith("99999\n100000\n"));
  assert.deepEqual(rest.slice(-2).map(({ type }) => type), ["exited", "closed"]);
  client.close();
}

async function away() {
  const client = await connect(url, { recoverForMs: Number(argument) });
  const process = await client.start(["sh", "-c", "read x; echo $x"], { stdin: true });
  await told("started");
  try {
    console.log(String((await process.communicate("back\n")).stdout).trim());
  } catch (error) {
    console.log(error.name);
    await assert.rejects(client.call("environment/status"), Disconnected);
  }
  client.close();
}

async function refused() {
  await assert.rejects(connect(url, { token: "another" }), Disconnected);
  const client = await connect(url, { token: argument });
  assert.deepEqual(await client.call("environment/status"), { status: "ready" });
  client.close();
}

async function child() {
  const client = await Client.connect({ command: [url, "exec-server", "--listen", "stdio", "--log-level", "warn", "--sandbox-check=false"] });
  assert.equal((await client.run(["cat"], { input: "x".repeat(300_000) })).stdout.length, 300_000);
  client.close();
}

await { commands, files, approvals, conversation, startsOnce, lostOutput, away, refused, child }[name]();
process.stdin.unref();
