#!/usr/bin/env python3
"""Usage: tools/source_batches.py SIZE < sources > batches.cmake
Distributes the sources, given as one path in each line, to batches of about SIZE sources of one folder (cmake/Batches.cmake).

A source that defines a macro is by itself, because headers may look at the macro. Two sources are in different batches if one of
them uses a name without a qualifier that the other declares in its unnamed namespace, or to which the other gives another meaning
by `using`. These rules know how our sources are written, and not all of C++. Sources that they let pass wrongly mostly do not compile
together, and then one of them needs another name.

The place of a source depends on its own name first, so that a change of one source rarely moves others."""
import hashlib
import itertools
import pathlib
import re
import sys

from tidy_batches import DECLARED, MACRO, UNNAMED

# A line that gives things further names, which may stand in a file twice.
ALIAS = re.compile(r"^using [\w:, \n]+;|^(?:using|namespace) \w+ =.*;", re.MULTILINE)
MATCHER = re.compile(r"^MATCHER\w*\((\w+)", re.MULTILINE)
# A name that is neither a member nor qualified.
USED = re.compile(r"(?<![\w.:>])[a-zA-Z]\w+")
NOT_CODE = re.compile(r'//.*$|"(?:[^"\\\n]|\\.)*"', re.MULTILINE)


def named(line):
    """Returns the names that the line declares, each with what it means."""
    if "=" in line:
        return [(line.split()[1], line)]
    return [(part.split("::")[-1], part.removeprefix("::")) for part in re.findall(r"[\w:]+", line)[1:]]


class Source:
    def __init__(self, path):
        text = path.read_text()
        unnamed = ALIAS.sub("", "\n".join(UNNAMED.findall(text)))
        self.path = path
        self.aliases = dict(part for line in ALIAS.findall(text) for part in named(line))
        self.hidden = {*DECLARED.findall(unnamed), *MATCHER.findall(unnamed)}
        self.alone = MACRO.search(text) is not None
        self.used = set(USED.findall(NOT_CODE.sub("", text)))

    def may_precede(self, other):
        return (not self.alone and not self.hidden & (other.used | other.aliases.keys())
                and all(other.aliases.get(name) == alias for name, alias in self.aliases.items()
                        if name in other.used or name in other.aliases))

    def fits(self, other):
        return self.may_precede(other) and other.may_precede(self)


def batches(sources, size):
    """Returns the batches of the sources of one folder by number. Each source looks for a batch in an order of its own, and then in
    further batches that all sources try in the same order."""
    wanted = -(-len(sources) // size)
    found = {}
    for source in sources:
        def rank(number, source=source):
            return hashlib.sha256(f"{source.path.name} {number}".encode()).digest()
        for number in itertools.chain(sorted(range(wanted), key=rank), itertools.count(wanted)):
            batch = found.setdefault(number, [])
            if len(batch) < size + size // 2 and all(map(source.fits, batch)):
                batch.append(source)
                break
    return found


def main():
    size = int(sys.argv[1])
    sources = sorted(map(pathlib.Path, sys.stdin.read().split()))
    for folder, paths in itertools.groupby(sources, key=lambda path: path.parent):
        for number, batch in batches(list(map(Source, paths)), size).items():
            for source in batch if len(batch) > 1 else ():
                print(f'set_property(SOURCE "{source.path}" PROPERTY UNITY_GROUP {folder.name}_{number})')


if __name__ == "__main__":
    sys.exit(main())
