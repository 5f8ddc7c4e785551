"""A validator for JSON Schema (draft 7), as far as docs/openrpc.json and the meta schemas of OpenRPC need it. A keyword that it does
not know is an error, because a schema that is not understood would accept everything."""

import re

# The keywords that describe a value without a claim about it, and format, which draft 7 leaves to the validator.
ANNOTATIONS = {
    "$id", "$schema", "$comment", "title", "description", "default", "examples", "readOnly", "definitions", "format",
    "contentEncoding", "contentMediaType",
}
TYPES = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class Schema:
    """A document with schemas, and others that its references may name by their address."""

    def __init__(self, document, others=()):
        self.documents = {"": document} | {other["$id"].rstrip("/"): other for other in others}

    def faults(self, value, schema, base="", path="$"):
        """Returns what is wrong with the value, a line for each fault."""
        if isinstance(schema, bool):
            return [] if schema else [f"{path}: nothing is allowed here"]
        if "$ref" in schema:
            base, target = self.resolve(schema["$ref"], base)
            return self.faults(value, target, base, path)
        found = []
        for keyword, argument in schema.items():
            if keyword in ANNOTATIONS or keyword in ("additionalProperties", "patternProperties", "additionalItems"):
                continue
            check = getattr(self, f"check_{keyword}", None)
            if check is None:
                raise ValueError(f"{path}: the validator does not know {keyword}")
            found += check(value, argument, base, path)
        return found + self.check_members(value, schema, base, path)

    def resolve(self, reference, base):
        address, _, pointer = reference.partition("#")
        base = address.rstrip("/") or base
        target = self.documents[base]
        for word in pointer.split("/")[1:]:
            word = word.replace("~1", "/").replace("~0", "~")
            target = target[int(word)] if isinstance(target, list) else target[word]
        return base, target

    def check_members(self, value, schema, base, path):
        if not isinstance(value, dict):
            return []
        found = []
        for name, member in value.items():
            rules = [rule for pattern, rule in schema.get("patternProperties", {}).items() if re.search(pattern, name)]
            if name in schema.get("properties", {}):
                rules.append(schema["properties"][name])
            for rule in rules or [schema.get("additionalProperties", True)]:
                found += self.faults(member, rule, base, f"{path}.{name}")
        return found

    def check_properties(self, value, properties, base, path):
        return []  # check_members looks at each member once

    def check_type(self, value, types, base, path):
        types = [types] if isinstance(types, str) else types
        return [] if any(TYPES[name](value) for name in types) else [f"{path}: {value!r:.80} is not {' or '.join(types)}"]

    def check_enum(self, value, values, base, path):
        return [] if value in values else [f"{path}: {value!r:.80} is not one of {values}"]

    def check_const(self, value, wanted, base, path):
        return [] if value == wanted else [f"{path}: {value!r:.80} is not {wanted!r}"]

    def check_required(self, value, names, base, path):
        return [f"{path}: lacks {name}" for name in names if isinstance(value, dict) and name not in value]

    def check_items(self, value, schema, base, path):
        if not isinstance(value, list):
            return []
        return [fault for i, item in enumerate(value) for fault in self.faults(item, schema, base, f"{path}[{i}]")]

    def check_minItems(self, value, least, base, path):
        return [f"{path}: has too few items"] if isinstance(value, list) and len(value) < least else []

    def check_uniqueItems(self, value, wanted, base, path):
        repeated = wanted and isinstance(value, list) and any(item in value[:i] for i, item in enumerate(value))
        return [f"{path}: has an item twice"] if repeated else []

    def check_minLength(self, value, least, base, path):
        return [f"{path}: is too short"] if isinstance(value, str) and len(value) < least else []

    def check_pattern(self, value, pattern, base, path):
        return [f"{path}: does not match {pattern}"] if isinstance(value, str) and not re.search(pattern, value) else []

    def check_minimum(self, value, least, base, path):
        return [f"{path}: {value} is less than {least}"] if TYPES["number"](value) and value < least else []

    def check_exclusiveMinimum(self, value, bound, base, path):
        return [f"{path}: {value} is not above {bound}"] if TYPES["number"](value) and value <= bound else []

    def check_maximum(self, value, most, base, path):
        return [f"{path}: {value} is more than {most}"] if TYPES["number"](value) and value > most else []

    def check_propertyNames(self, value, schema, base, path):
        names = value if isinstance(value, dict) else {}
        return [fault for name in names for fault in self.faults(name, schema, base, f"{path} (a name)")]

    def check_allOf(self, value, schemas, base, path):
        return [fault for schema in schemas for fault in self.faults(value, schema, base, path)]

    def check_anyOf(self, value, schemas, base, path):
        choices = [self.faults(value, schema, base, path) for schema in schemas]
        return [] if not all(choices) else [f"{path}: meets none of its alternatives: {choices}"]

    def check_oneOf(self, value, schemas, base, path):
        choices = [self.faults(value, schema, base, path) for schema in schemas]
        met = sum(not faults for faults in choices)
        return [] if met == 1 else [f"{path}: meets {met} of its alternatives, not one: {choices}"]

    def check_not(self, value, schema, base, path):
        return [] if self.faults(value, schema, base, path) else [f"{path}: {value!r:.80} is not allowed"]
