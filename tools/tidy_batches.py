"""Batches of sources for clang-tidy. A batch is one generated file, in which sources of src/ stand one after the other, so that
clang-tidy reads the headers that they share only once. A batch without a finding has to mean that each of its sources has none.
These rules see to it:

- A source follows others only if it includes each precompiled header that they include. So a source that forgets such a header
  fails in the batch too. Without any other header it does not build.
- A name of an unnamed namespace does not occur in another source that would find it, so that no source uses what another hides.
- The name of a macro or of a using-declaration does not occur at all in another source, or in a header that only the other source
  includes. clang-tidy would count it as a use of the declaration.

The second rule knows how our sources are written, and not all of C++. Sources that it lets pass wrongly mostly do not compile
together, and then are checked one by one."""
import dataclasses
import functools
import hashlib
import pathlib
import re
import shlex
import subprocess

SCAN = "clang-scan-deps-19"
LARGEST = 16

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]+(\S+).*$", re.MULTILINE)
NAMESPACE = re.compile(r"^namespace ([\w:]+) {", re.MULTILINE)
UNNAMED = re.compile(r"^namespace {$(.*?)^}  // namespace$", re.MULTILINE | re.DOTALL)
# A line at the left margin that declares a name: it is that of a type, or parameters, a value or a body follow it.
DECLARED = re.compile(r"^(?:(?:class|struct|enum class) (?=\w+ (?:final )?[:{])|[a-zA-Z][^(={;\n]*?\b(?=\w+ ?(?:[({=;[]|$)))(\w+)", re.MULTILINE)
MACRO = re.compile(r"^\s*#\s*define (\w+)", re.MULTILINE)
USING = re.compile(r"^\s*using (?:\w+::)+(\w+);", re.MULTILINE)


@functools.cache
def text_of(path):
    return pathlib.Path(path).read_text(errors="replace")


@functools.cache
def words_of(path):
    return frozenset(re.findall(r"\w+", text_of(path)))


@dataclasses.dataclass(frozen=True)
class Source:
    path: str
    flags: tuple
    files: frozenset        # the source and all that it includes, directly or not
    precompiled: frozenset  # what the build precompiles for it, included or not

    @functools.cached_property
    def weight(self):
        return len(self.files & self.precompiled)

    @functools.cached_property
    def spaces(self):
        return tuple(NAMESPACE.findall(text_of(self.path)))

    @functools.cached_property
    def hidden(self):
        return {name for part in UNNAMED.findall(text_of(self.path)) for name in DECLARED.findall(part)}

    @functools.cached_property
    def loose(self):
        return {*USING.findall(text_of(self.path)), *MACRO.findall(text_of(self.path))}

    def may_precede(self, other):
        return (self.flags == other.flags and self.files & other.precompiled <= other.files
                and not self.is_touched_by(other) and not other.is_touched_by(self))

    def is_touched_by(self, other):
        """Tells whether the source would change its meaning beside the other one, or change that of the other one."""
        names = self.loose | (self.hidden if any(space.startswith(self.spaces) for space in other.spaces) else set())
        return bool(names) and any(names & words_of(path) for path in other.files - self.files)


def included(build):
    """Returns, for each source of the compilation database, the source and the files that it includes. A source that includes a
    missing file is left out."""
    run = subprocess.run([SCAN, "-compilation-database", build / "compile_commands.json"], capture_output=True, text=True)
    rules = (line.split()[1:] for line in run.stdout.replace("\\\n", " ").splitlines())
    return {files[0]: frozenset(files) for files in rules if files}


def sources(entries, build):
    files = included(build)
    std, net = (files[f"{build}/pch/pch_{name}.cc"] for name in ("std", "net"))
    net_rooms = (build / "pch" / "pch_net.rooms").read_text().splitlines()
    for entry in entries:
        path, words = entry["file"], shlex.split(entry["command"])
        # A source that cannot share a batch has flags of its own here: one of which nothing is known, or one of apps/.
        flags = tuple(words[1:words.index("-o")]) if path in files and "/src/" in path else (path,)
        precompiled = net if str(pathlib.Path(path).parent) in net_rooms else std
        yield Source(path, flags, files.get(path, frozenset()), precompiled)


def plan(entries, build):
    """Distributes the sources of `entries` to batches. Each source is in exactly one of them."""
    batches = []
    for source in sorted(sources(entries, build), key=lambda source: (-source.weight, source.path)):
        fits = [batch for batch in batches if len(batch) < LARGEST and all(map(source.may_precede, batch))]
        if fits:
            min(fits, key=lambda batch: batch[0].weight).insert(0, source)
        else:
            batches.append([source])
    return sorted(batches, key=lambda batch: -len(batch))


def joined(batch):
    """Returns the text of the generated file. An #include that an earlier source has is left out, once for each source: the
    second one of the same source is a finding."""
    seen, parts = set(), []
    for source in batch:
        left_out = set(seen)

        def reduced(line, left_out=left_out):
            seen.add(line[1])
            if line[1] not in left_out:
                return line[0]
            left_out.remove(line[1])
            return ""

        parts.append(INCLUDE.sub(reduced, text_of(source.path)))
    return "\n".join(parts)


def arguments(batch, build):
    """Returns the arguments with which clang-tidy checks the batch."""
    if len(batch) == 1:
        return ["-p", build, batch[0].path]
    text = joined(batch)
    path = build / "batches" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.cc"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return [path, "--", *batch[0].flags]
