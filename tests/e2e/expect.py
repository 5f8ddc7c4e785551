"""What a step can demand. Each function makes a check: it takes what was seen and returns a complaint, or nothing."""
import base64
import hashlib
import json
import re

import versions

SHOWN = 600
ADVICE = "Read by way of the server."  # what AGENTS.md at the top of the workspace says


def shown(text):
    return json.dumps(text if len(text) <= SHOWN else text[:SHOWN] + "...", ensure_ascii=False)


def says(*wanted):
    def check(seen):
        missing = [text for text in map(seen.bench.fill, wanted) if text not in seen.text]
        return f"lacks {missing}: {shown(seen.text)}" if missing else None
    return check


def lacks(unwanted):
    return lambda seen: f"has {unwanted!r}: {shown(seen.text)}" if unwanted in seen.text else None


def advised():
    return lambda seen: None if ADVICE in seen.text else "AGENTS.md of the workspace is not in what the model is told"


def matches(pattern):
    return lambda seen: None if re.search(pattern, seen.text) else f"does not match {pattern}: {shown(seen.text)}"


def exits(code):
    return says(f"Process exited with code {code}\n")


def fails():
    """The tool says that it could not do it; the words differ between versions."""
    return matches(r"(?i)fail|error|unable|no such|denied|reject|not permitted|read-only")


def keeps(name):
    """The command is still running; later steps type into it or poll it by this name."""
    def check(seen):
        match = re.search(r"Process running with session ID (\d+)", seen.text)
        if not match:
            return f"is not running: {shown(seen.text)}"
        seen.bench.sessions[name] = int(match[1])
        return None
    return check


def shows_image():
    return lambda seen: None if "data:image/png;base64," in seen.rest else f"no image: {shown(seen.rest)}"


def holds(name, content):
    def check(seen):
        path = seen.bench.path(name)
        if not path.is_file():
            return f"{path} is missing; the tool said {shown(seen.text)}"
        return None if path.read_text() == content else f"{path} holds {shown(path.read_text())}"
    return check


def absent(name):
    return lambda seen: f"{seen.bench.path(name)} is there" if seen.bench.path(name).exists() else None


def started(**params):
    """The command went over the wire with these params."""
    def check(seen):
        start = seen.start()
        wrong = {key: start.params.get(key) for key, value in params.items() if start.params.get(key) != value}
        return f"process/start has {wrong}" if wrong else None
    return check


def confined():
    """The command ran in a sandbox: the server's, or for old clients the one they bring along."""
    def check(seen):
        start = seen.start()
        if not seen.bench.client.can(versions.SERVER_SANDBOX):
            is_wrapped = start.params["argv"][0].endswith("/codex-linux-sandbox")
            return None if is_wrapped else f"not wrapped: {start.params['argv']}"
        if not start.params.get("sandbox"):
            return "the client asked for no sandbox"
        result = seen.bench.tap.result(start)
        return None if (result or {}).get("sandboxType") not in (None, "none") else f"the server answered {result}"
    return check


def denied(*verdicts):
    """The server's verdicts for each run of the command, the first one first: was the sandbox in its way?"""
    def check(seen):
        tap = seen.bench.tap
        found = [note["sandboxDenied"] for start in tap.starts(seen.command)
                 for note in tap.notes("process/exited", start.params["processId"])]
        return None if found == list(verdicts) else f"sandboxDenied is {found}, not {list(verdicts)}"
    return check


def asked(times):
    """So many approvals were asked for since the scenario began."""
    def check(seen):
        count = len(seen.bench.approvals)
        return None if count == times else f"{count} approvals asked for, not {times}: {shown(seen.text)}"
    return check


def reached(method, *fragments):
    """A request of this method, with all of this in its params, went over the wire."""
    def check(seen):
        wanted = [seen.bench.fill(fragment) for fragment in fragments]
        sent = [json.dumps(request.params) for request in seen.bench.tap.requests(method)]
        found = any(all(fragment in params for fragment in wanted) for params in sent)
        return None if found else f"no {method} with {wanted} was sent"
    return check


def noted(method):
    """The server has sent notifications of this method."""
    return lambda seen: None if seen.bench.tap.notes(method) else f"no {method} was sent"


def streamed(content):
    """The notifications of the command, put together, are this output to the byte."""
    def check(seen):
        notes = seen.bench.tap.notes("process/output", seen.start().params["processId"])
        output = b"".join(base64.b64decode(note["chunk"]) for note in notes)
        digests = hashlib.sha256(output).hexdigest(), hashlib.sha256(content).hexdigest()
        return None if digests[0] == digests[1] else f"{len(output)} bytes streamed, not these {len(content)}"
    return check


def resumed():
    """The client has connected again and was given its session back."""
    def check(seen):
        greetings = seen.bench.tap.requests("initialize")
        first, last = seen.bench.tap.result(greetings[0]), seen.bench.tap.result(greetings[-1])
        if len(greetings) < 2 or greetings[-1].params.get("resumeSessionId") != first["sessionId"]:
            return f"{len(greetings)} greetings, the last with {greetings[-1].params}"
        return None if last["sessionId"] == first["sessionId"] else f"session {first} became {last}"
    return check


def each_once(*lines):
    """Over this step and those before it, the client was given each line once: none is lost, none comes twice."""
    def check(seen):
        counts = {line: sum(text.split("\n").count(line) for text in seen.bench.transcript) for line in lines}
        wrong = {line: count for line, count in counts.items() if count != 1}
        return f"seen so many times: {wrong}" if wrong else None
    return check
