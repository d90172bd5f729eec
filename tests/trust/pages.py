"""Hostile names, texts and lines of files, in all that the command writes and in the pytest plugin's report.

A spec in equations, in Python or in Lustre is written twice: with hostile texts where its author has a choice, and with
plain ones. What is made of both has the same elements, attributes, scripts, commands and fields, and no character that
commands a terminal.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from trust.command import command, last_line
from trust.figure import Figure
from trust.seeds import exported

from streamcheck.core.printable import COMMANDS as CHARACTERS
from streamcheck.core.printable import command_in

SPEC = """from streamcheck import *
import enum
class E(enum.Enum):
    AA = 0
    BB = 1
x = extern("x", Word8, samples=[1, 2, 3, 9], doc="@0", unit="@1")  # @7
e = extern("e", EnumOf(E), samples=[E.AA] * 4)  # @8
n = stream(Word8, lambda n: [0] ++ mux(x > 3, n + 1, 0))  # @9
spec = Spec("s")  # @10
spec.assume("@2", x < 255)  # @7
spec.trigger("t", n > 2, {"arg": x})  # @8
spec.observer("seen", n)  # @9
spec.prop("@3", implies(e == E.AA, n <= 255))  # @10
spec.prop("@4", n < 2)  # @7
spec.exists("@5", n == 1)  # @8
"""
LUSTRE = """-- @7
node top(x: int; b: bool) returns (y: int); -- @8
let
  y = 0 -> if b then pre y + 1 else x; -- @9
  --%PROPERTY "@3" true -> (y >= pre y or not b); -- @10
  check "@4" y < 3; -- @7
tel
"""
FRAGMENTS = [
    "*/ evil(); /*", "// evil", "evil\\", "??/", "|evil|", '"', "'", '"""', "'''", "><", "<script>evil()</script>",
    "</script><script>evil()</script>", "</td>", "</textarea>", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "&#27;",
    "javascript:evil()", ' onload="evil()"', "$end", "$scope module evil $end", "#9", "%s%n", "{0}", "{{", "}}", "}",
    "#{evil}", "$(evil)", "`evil`", "; drop", "--%", "\\N", "\\u001b", "::error::evil", "##[error]evil", "[a](b)", "\\",
    "(", ")", "é", "\u00a0", "\U0001f600", ",", ";", "=1+1", "@evil", "\t", "\x1b[2J", "\x07", "\x9b31m", "\u202e",
    "\u2028", "\x7f", "\x00", "\n", "\r", "\x0c",
]  # fmt: skip
TEXTS = range(7)  # numbers of texts; the others are comments, which may not end their line
OUTSIDE = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029\x00"
PLAIN = [f"plain{i}" for i in range(11)]
PROOFS = "--html p.html --trace html t --trace vcd t --trace csv t --trace json t --output junit j.xml --output sarif s"
COMMANDS = (
    ("prove", f"--timeout 20 --jobs 1 --no-cache --certificates k {PROOFS}"),
    ("run", "--html r.html"),
    ("show", "--as graph"),
    ("explain", "--no-cache --html e.html"),
    ("compile", "--unproven --no-cache -o c --html c.html"),
)
OWN = re.compile(r"(n|plain)\d")  # how the texts begin
TOGETHER = 10  # items of a session of pytest


def pages(count, seed):
    figure = Figure("hostile names, texts and lines, in pages, reports, traces, C, and the pytest plugin")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + count):
            one(figure, number, Path(folder) / str(number))
        for begin in range(seed, seed + count, TOGETHER):
            under_pytest(figure, range(begin, min(begin + TOGETHER, seed + count)), Path(folder) / f"pytest{begin}")
    return figure


def one(figure, number, folder):
    rng = Random(number)
    kind = ("json", "py", "lus")[number % 3]
    names, found = [hostile(rng, i) for i in range(11)], []
    figure.tried[f"of {kind}"] += 1
    for which, texts in (("hostile", names), ("plain", PLAIN)):
        here = folder / which
        here.mkdir(parents=True)
        path = here / f"s.{kind}"
        path.write_text(written(kind, texts, here), encoding="utf-8", newline="")
        found.append(made(figure, number, path, here))
        if found[0] is None:
            return
    for name, (shape, plain) in both(*found):
        if shape != plain:
            figure.wrong.append(f"seed {number}, {kind}, {name}: {difference(shape, plain)}: {names}")


def hostile(rng, number):
    """A text of several fragments. What ends a line is no part of a comment; what is refused as a name comes seldom."""
    text = " ".join(rng.choice(FRAGMENTS) for _ in range(rng.randint(1, 4)))
    if number in TEXTS and (command_in(text) or command_in(f"a {text}")) and rng.random() < 0.97:
        text = "".join(c for c in text if not command_in(c)).replace("::", ":").replace("##[", "#[")
    if number not in TEXTS:
        text = "".join(c for c in text if c not in OUTSIDE)
    return f"n{number}{text}"


def written(kind, texts, folder):
    """A file of this kind, with the texts."""
    if kind == "lus":
        clean = [re.sub(r'["\\\x00-\x1f]', "", text) if i in TEXTS else text for i, text in enumerate(texts)]
        return put(LUSTRE, clean)
    if kind == "py":
        return put(SPEC, [repr(text)[1:-1].replace('"', '\\"') if i in TEXTS else text for i, text in enumerate(texts)])
    (folder / "e.py").write_text(SPEC)
    shown = next(exported("json", [folder / "e.py"]))
    return put(shown, [json.dumps(text)[1:-1] for text in texts])


def put(text, texts):
    return re.sub(r"@(\d+)", lambda found: texts[int(found[1])], text)


def made(figure, number, path, folder):
    """The shapes of all that the commands make of a file, by name. None if it is refused."""
    shapes = {}
    for name, options in COMMANDS:
        if path.suffix == ".lus" and name in ("run", "compile"):
            continue
        words = [str(folder / w) if w in PATHS else w for w in options.split()]
        where = f"{path}::{'top' if path.suffix == '.lus' else 's'}" if name == "explain" else path
        done = command(name, where, *words)
        if done.is_broken or done.status not in (0, 1, 2, 3):
            figure.wrong.append(f"seed {number}, {name}: {done.status} {last_line(done.shown)}")
        if done.status == 2 and name == "prove":
            figure.tried["refused"] += 1
            return None
        shapes[name] = done.status, (command_in(done.shown, "\n\t") if name == "show" else None)
        if name == "show":
            shapes["graph"] = Counter(re.sub(r'"(?:\\.|[^"\\])*"', '""', done.shown).split())
    for made_file in sorted(p for p in folder.rglob("*") if p.is_file() and p != path and p.name != "e.py"):
        shapes[made_file.suffix, len([k for k in shapes if k[0] == made_file.suffix])] = shape_of(made_file)
    figure.tried["files written"] += len(shapes)
    return shapes


PATHS = ("p.html", "t", "j.xml", "s", "r.html", "e.html", "c", "c.html", "k")


def both(hostile_shapes, plain_shapes):
    for name in {**hostile_shapes, **plain_shapes}:
        yield name, (hostile_shapes.get(name), plain_shapes.get(name))


def shape_of(path):
    """What must not depend on names."""
    text = path.read_text(encoding="utf-8")
    shape = [set(CHARACTERS.findall(text)) - set("\n\t\r" if path.suffix == ".csv" else "\n\t")]
    match path.suffix:
        case ".html":
            return [*shape, *elements(text)]
        case ".xml":
            tree = ElementTree.fromstring(text)
            return [*shape, Counter((node.tag, *sorted(node.attrib)) for node in tree.iter())]
        case ".vcd":
            return [*shape, Counter(re.findall(r"\$\w+", text)), len(text.splitlines())]
        case ".csv":
            return [*shape, len(text.split("\n"))]
        case ".c" | ".h":
            return [*shape, without_texts(text)]
        case ".json" | "":
            return [*shape, keys_of(json.loads(text))]
    return shape


def without_texts(text):
    """C without comments and strings, as a compiler takes them away."""
    text = text.replace("??/", "\\").replace("\\\n", "")
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text, flags=re.S).split()


def keys_of(data):
    if isinstance(data, dict):
        keys = sorted("NAME" if OWN.match(key) else key for key in data)
        return Counter([str(keys), *(k for v in data.values() for k in keys_of(v).elements())])
    return Counter(k for v in data for k in keys_of(v).elements()) if isinstance(data, list) else Counter()


def elements(text):
    """The elements with their attributes' names, the scripts that are no data, and what leads elsewhere."""
    tags, scripts, links = Counter(), [], Counter()

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            tags[tag, *sorted(name for name, _ in attributes)] += 1
            links.update(v.partition(":")[0] for k, v in attributes if k in ("href", "src") and not v.startswith("#"))
            self.is_data = ("type", "application/json") in attributes

        def handle_data(self, data):
            if self.lasttag == "script" and self.cdata_elem == "script":
                scripts.append(str(keys_of(json.loads(data))) if self.is_data else data)

        def handle_comment(self, data):
            tags["comment"] += 1

        def unknown_decl(self, data):
            tags["declaration"] += 1

    parser = Parser()
    parser.feed(text)
    parser.close()
    return [tags, scripts, links]


def difference(shape, plain):
    if not isinstance(shape, list) or not isinstance(plain, list) or len(shape) != len(plain):
        return f"{str(shape)[:200]}, not {str(plain)[:200]}"
    for one_part, other in zip(shape, plain, strict=True):
        if isinstance(one_part, Counter) and one_part != other:
            return f"more: {one_part - other}, less: {other - one_part}"
        if one_part != other:
            return f"{str(one_part)[:200]}, not {str(other)[:200]}"
    return ""


def under_pytest(figure, numbers, folder):
    """The files in Python as tests of a session: each property is a test, and the report commands no terminal."""
    (folder / "specs").mkdir(parents=True)
    for number in numbers:
        rng = Random(number)
        texts = [hostile(rng, i) for i in range(11)]
        (folder / "specs" / f"s{number}.py").write_text(written("py", texts, folder), encoding="utf-8", newline="")
    words = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:xdist", "--junit-xml=j.xml"]
    done = subprocess.run([*words, "--continue-on-collection-errors", "specs"], cwd=folder, capture_output=True)
    shown = (done.stdout + done.stderr).decode()
    found = command_in(shown.replace("::", ":").replace("##[", "#["), "\n\t")
    if done.returncode not in (0, 1) or "INTERNALERROR" in shown or found:
        figure.wrong.append(f"seeds {numbers}, pytest: status {done.returncode}, {found}: {shown[-300:]!r}")
        return
    cases = list(ElementTree.parse(folder / "j.xml").getroot().iter("testcase"))
    figure.tried["tests of the plugin"] += len(cases)
    for number in numbers:
        ends = Counter(
            bool(len(case)) for case in cases if f"specs.s{number}" in case.get("classname") + case.get("name")
        )
        if ends not in ({True: 1, False: 2}, {True: 1}):  # one is false; or the file is refused
            figure.wrong.append(f"seed {number}, pytest: {dict(ends)} of its properties failed")
