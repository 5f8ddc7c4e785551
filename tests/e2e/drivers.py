"""Two ways to have a client take a turn: `codex exec`, and `codex app-server`, which asks its user for approvals and
can take a turn in each of several threads.

Each returns what went wrong, or nothing.
"""
import asyncio
import json

import children
import versions

PROMPT = "Do what the script says."
LINE_BYTES = 1 << 26


async def _spawn(bench, *arguments, stdin):
    place = {"cwd": bench.start_folder, "env": bench.client_environment()}
    pipes = {"stdin": stdin, "stdout": asyncio.subprocess.PIPE, "limit": LINE_BYTES}
    with bench.log.open("ab") as log:
        return await children.spawn(bench.client.binary, *arguments, **place, **pipes, stderr=log)


def _parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return {"type": f"not JSON: {line}"}


async def exec_turn(bench):
    arguments = ("exec", "--json", "--skip-git-repo-check", "-s", bench.scenario.sandbox, "-C", bench.start_folder,
                 PROMPT)
    process = await _spawn(bench, *arguments, stdin=asyncio.subprocess.DEVNULL)
    events = []
    try:
        async for line in process.stdout:
            events.append(_parsed(line).get("type"))
        await process.wait()
    finally:
        await children.stop(process)
    if process.returncode != 0 or "turn.completed" not in events:
        return f"exit {process.returncode} after {events[-3:]}"
    return None


async def app_server_turn(bench):
    process = await _spawn(bench, "app-server", stdin=asyncio.subprocess.PIPE)
    try:
        return await _converse(bench, process)
    finally:
        process.stdin.close()
        await children.stop(process)


async def _converse(bench, process):
    policy = "on-failure"
    if bench.client.can(versions.GRANULAR_APPROVALS):
        kinds = ("sandbox_approval", "rules", "skill_approval", "request_permissions", "mcp_elicitations")
        policy = {"granular": dict.fromkeys(kinds, True)}
    thread = {"cwd": str(bench.start_folder), "sandbox": bench.scenario.sandbox, "approvalPolicy": policy}
    if bench.capability_roots:
        # The name is that of the environment that CODEX_EXEC_SERVER_URL makes.
        thread["selectedCapabilityRoots"] = [
            {"id": root.name, "location": {"type": "environment", "environmentId": "remote", "path": str(root)}}
            for root in bench.capability_roots]
    threads_left = bench.scenario.threads
    client_info = {"name": "e2e", "version": "1"}

    def send(**message):
        process.stdin.write(json.dumps(message).encode() + b"\n")

    # Granular approvals are an experiment to the client.
    send(id="hello", method="initialize", params={"clientInfo": client_info, "capabilities": {"experimentalApi": True}})
    async for line in process.stdout:
        message = _parsed(line)
        match message:
            case {"id": identifier, "error": error}:
                return f"{identifier} failed: {error}"
            case {"id": "hello", "result": _}:
                send(method="initialized")
                send(id="thread", method="thread/start", params=thread)
            case {"id": "thread", "result": result}:
                send(id="turn", method="turn/start",
                     params={"threadId": result["thread"]["id"], "input": [{"type": "text", "text": PROMPT}]})
            case {"id": identifier, "method": method} if method.endswith("/requestApproval"):
                bench.approvals.append(message["params"])
                send(id=identifier, result={"decision": bench.decision})
            case {"id": identifier, "method": method}:
                send(id=identifier, error={"code": -32601, "message": f"{method} is not for this user"})
            case {"method": "turn/completed", "params": {"turn": {"status": status}}}:
                threads_left -= 1
                if status != "completed":
                    return f"the turn is {status}"
                if not threads_left:
                    return None
                send(id="thread", method="thread/start", params=thread)
    return "the app-server ended"
