"""An MCP server on standard input and output. Its one tool, `echo`, answers with its text and where it runs."""
import json
import os
import pathlib
import sys

TOOL = {
    "name": "echo",
    "description": "Answers with what it is given.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    "annotations": {"readOnlyHint": True},
}


def place():
    """The name of the nearest ancestor that is an exec-server."""
    pid = os.getpid()
    while pid > 1:
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        if status["Name"] == "holdfast":
            return status["Name"]
        pid = int(status["PPid"])
    return "no server"


def answer(method, params):
    if method == "initialize":
        server = {"name": "e2e", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": f"echo of {params['arguments']['text']} at {place()}"}]}
    return None


def outcome(request):
    result = answer(request["method"], request.get("params", {}))
    part = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    return {"jsonrpc": "2.0", "id": request["id"]} | part


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            print(json.dumps(outcome(request)), flush=True)


if __name__ == "__main__":
    main()
