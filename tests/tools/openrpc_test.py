#!/usr/bin/env python3
"""Usage: openrpc_test.py HOLDFAST INTEGRATION_TEST

Checks docs/openrpc.json: it is what the program prints, it is a valid OpenRPC document, it has every method, and every message of the
conversations in tests/traces, as they are really spoken, is one that it allows. The meta schemas of OpenRPC come from npm: `make e2e`
fetches them, and their test is skipped where they are missing. Other tests look for the structure that this document has to have."""

import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/tools")]
import json_schema  # noqa: E402
import npm_cache  # noqa: E402

HOLDFAST, INTEGRATION_TEST = sys.argv[1:3]
COMMITTED = (ROOT / "docs/openrpc.json").read_text()
DOCUMENT = json.loads(COMMITTED)
METHODS = {method["name"]: method for method in DOCUMENT["methods"]}
SCHEMA = json_schema.Schema(DOCUMENT)
IN_SOURCE = re.compile(r'\b(Method|Notification)<\s*"([^"]+)"')


def may_fail_with(error):
    """Returns whether the document knows this error."""
    kind = error.get("data", {}).get("kind")
    return any(
        known["code"] == error["code"] and known.get("data", {}).get("kind") == kind
        for known in DOCUMENT["components"]["errors"].values()
    )


class Conversation:
    """Compares the messages of one trace with the document. Requests that the server has refused may be wrong themselves."""

    def __init__(self, schema=SCHEMA):
        self.schema = schema
        self.asked = {}  # requests without an answer, by connection, sender and id
        self.faults, self.seen = [], set()

    def take(self, connection, sender, text):
        try:
            message = json.loads(text)
        except ValueError:
            return  # some traces show how the server answers what is not JSON
        if not isinstance(message, dict):
            return
        if "method" not in message:
            self.take_answer(connection, sender, message)
        elif isinstance(message.get("id"), (str, int)):
            self.asked[connection, sender, message["id"]] = message
        elif message["method"] in METHODS and "id" not in message:
            self.check_params(sender, message)

    def take_answer(self, connection, sender, message):
        asker = "client" if sender == "server" else "server"
        request = self.asked.pop((connection, asker, message.get("id")), None)
        if "error" in message:
            if not may_fail_with(message["error"]):
                self.faults.append(f"unknown error {message['error']}")
        elif request is not None:
            self.check_params(asker, request)
            self.check(message["result"], METHODS[request["method"]]["result"]["schema"], f"result of {request['method']}")
            self.seen.add((request["method"], "result"))

    def check_params(self, sender, message):
        method = METHODS[message["method"]]
        self.seen.add((message["method"], "params"))
        if method["x-sender"] != sender:
            self.faults.append(f"{message['method']} was sent by the {sender}")
        if message.get("params") is not None or not method["x-params-optional"]:
            self.check(message.get("params"), method["x-params"], f"params of {message['method']}")

    def check(self, value, schema, what):
        self.faults += [f"{what}: {fault}" for fault in self.schema.faults(value, schema)]


class DocumentTest(unittest.TestCase):
    def test_is_what_the_program_prints(self):
        printed = subprocess.run([HOLDFAST, "schema"], check=True, capture_output=True, text=True).stdout
        self.assertTrue(printed == COMMITTED, "docs/openrpc.json is out of date: holdfast schema > docs/openrpc.json")

    def test_has_every_method_and_notification(self):
        kinds = {name: kind for kind, name in IN_SOURCE.findall((ROOT / "src/wire/methods.h").read_text())}
        self.assertEqual(kinds, {name: "Method" if "result" in method else "Notification" for name, method in METHODS.items()})

    def test_is_valid_by_the_meta_schema_of_openrpc(self):
        try:
            modules = npm_cache.folder("openrpc-meta-schema") / "node_modules"
        except npm_cache.Missing as problem:
            self.skipTest(str(problem))
        source = (modules / "@open-rpc/meta-schema/index.js").read_text()
        meta = json.loads(re.search(r"exports\.openrpcDocument = (\{.*\});", source)[1])
        of_schemas = json.loads((modules / "@json-schema-tools/meta-schema/schema.json").read_text())
        schema = json_schema.Schema(meta, [of_schemas])
        self.assertEqual(schema.faults(DOCUMENT, meta), [])
        broken = copy.deepcopy(DOCUMENT)
        broken["methods"][3]["params"][0].pop("schema")
        self.assertNotEqual(schema.faults(broken, meta), [])

    def test_has_the_structure_that_its_readers_rely_on(self):
        self.assertEqual(set(DOCUMENT), {"openrpc", "info", "methods", "components"})
        self.assertEqual(len(METHODS), len(DOCUMENT["methods"]))
        members = {"name", "x-sender", "paramStructure", "params", "x-params", "x-params-optional"}
        for name, method in METHODS.items():
            extra = ({"result"} if "result" in method else set()) | ({"x-observer"} if "x-observer" in method else set())
            self.assertEqual(set(method), members | extra, name)
            self.assertEqual("x-observer" in method, "result" in method and method["x-sender"] == "client", name)
            params = SCHEMA.resolve(method["x-params"]["$ref"], "")[1]
            self.assertEqual([param["name"] for param in method["params"]], list(params.get("properties", {})), name)
            for param in method["params"]:
                self.assertEqual(param["required"], param["name"] in params.get("required", []), name)
                SCHEMA.resolve(param["schema"]["$ref"], "")
        for error in DOCUMENT["components"]["errors"].values():
            self.assertIn(error["code"], range(-32768, -31999))
            self.assertTrue(error["message"].endswith("."), error)

    def test_uses_every_schema_and_refers_to_no_other(self):
        used, waiting = set(), [DOCUMENT["methods"]]
        while waiting:
            value = waiting.pop()
            waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
            if isinstance(value, dict) and "$ref" in value:
                name = value["$ref"].split("/")[3]
                if name not in used:
                    waiting.append(DOCUMENT["components"]["schemas"][name])
                used.add(name)
        self.assertEqual(used, set(DOCUMENT["components"]["schemas"]))


class TracesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="holdfast-traces-", dir="/var/tmp"))
        done = subprocess.run(
            [INTEGRATION_TEST, "--gtest_filter=Traces/TraceTest.*"],
            env=os.environ | {"HOLDFAST_TRANSCRIPTS": place},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise AssertionError("the traces fail without the document too:\n" + done.stdout[-4000:])
        cls.lines = {
            path.stem: [json.loads(line) for line in path.read_text().splitlines()]
            for path in sorted(pathlib.Path(place).glob("*.jsonl"))
        }

    def conversation(self, name, schema=SCHEMA):
        conversation = Conversation(schema)
        for line in self.lines[name]:
            conversation.take(line["connection"], line["sender"], line["text"])
        return conversation

    def test_speak_as_the_document_says(self):
        self.assertEqual(set(self.lines), {path.name for path in (ROOT / "tests/traces").glob("*.trace")})
        seen = set()
        for name in self.lines:
            with self.subTest(name):
                conversation = self.conversation(name)
                self.assertEqual(conversation.faults, [])
                seen |= conversation.seen
        parts = {(name, part) for name, method in METHODS.items() for part in ("params", "result") if part in method}
        self.assertEqual(parts - seen, set(), "no trace has these")

    def test_would_find_a_wrong_document(self):
        def faults_with(name, change):
            document = copy.deepcopy(DOCUMENT)
            change(document["components"]["schemas"])
            return self.conversation(name, json_schema.Schema(document)).faults

        self.assertTrue(faults_with("process_read.trace", lambda s: s["ProcessReadResult"]["required"].append("other")))
        self.assertTrue(faults_with("process_output.trace", lambda s: s["Stream"]["enum"].remove("stdout")))
        self.assertTrue(faults_with("process_start.trace", lambda s: s["ProcessStartParams"]["properties"].update(cwd=False)))
        self.assertTrue(faults_with("process_start_prepared.trace", lambda s: s["ProcessStartParams"]["required"].append("argv")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
