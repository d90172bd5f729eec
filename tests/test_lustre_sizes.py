"""Lustre arrays whose size has no value: what is proved is proved for each size. The verdicts are those of Kind 2 3.0
where it has one, else those of the same file with sizes."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest
from lustre_runs import verdicts

from streamcheck.core.errors import SpecError
from streamcheck.frontends.lustre.read import read_lustre


def test_an_element_for_any_size(tmp_path):
    text = (
        "const n: subrange [1, *] of int;\n"
        "function twice(x: int) returns (y: int); let y = 2 * x; tel\n"
        "node top(B: int^n; c: bool) returns (A: int^n);\n"
        "var C, D: int^n;\n"
        "let A[i] = twice(B[i]); C = if c then A else B; D = C[0 := 7];\n"
        'check "first" A[0] = 2 * B[0]; check "each" forall (i: int) 0 <= i and i < n => A[i] = B[i] + B[i];\n'
        'check "choice" c => C = A; check "put" D[0] = 7 and (n > 1 => D[1] = C[1]);\n'
        'check "same" B = D; check "last" A[n - 1] <> 6; tel'
    )
    assert verdicts(tmp_path, text) == {
        "first": "proved", "each": "proved", "choice": "proved", "put": "proved", "same": "falsified",
        "last": "falsified",
    }  # fmt: skip


def test_what_is_known_of_all_elements_is_known_of_each_that_is_asked_for(tmp_path):
    text = (
        "type Nat = subtype { m: int | m >= 0 };\n"
        "node top(const n: int; X: Nat^n; U: int^n) returns (y, u: Nat^n);\n"
        "(*@contract assume U = X; *)\n"
        'let y = any@<Nat^n>; u = U; check "first" n > 0 => y[0] >= 0; check "same" u = X; tel'
    )
    assert verdicts(tmp_path, text) == {
        "first": "proved", "same": "proved", "y is of its type": "proved", "u is of its type": "proved",
    }  # fmt: skip


def test_an_element_outside_has_any_value(tmp_path):
    text = (
        "node top(const n: int; k: int) returns (z: int);\n"
        "(*@contract assume n > 1; *)\n"
        "var A, Z: int^n; let A[i] = 3; Z = 0^n; z = A[k];\n"
        'check "A" A[1] = 3; check "B" A[2] = 3; check "Z" Z[n - 1] = 0; check "Y" Z[-1] = 0;\n'
        'check "k" 0 <= k and k < n => z = 3; check "one value" k = 2 => A[k] = A[2]; tel'
    )
    assert verdicts(tmp_path, text) == {
        "A": "proved", "B": "falsified", "Z": "proved", "Y": "falsified", "k": "proved", "one value": "proved",
    }  # fmt: skip


def test_elements_with_memory(tmp_path):
    """Kind 2's own example of a quantifier in a property, and one whose element is another at each step."""
    text = (
        "node top(const n: int; s, k: int; X: int^n) returns (ok: bool^n);\n"
        "var A, Y: int^n;\n"
        "let A[i] = if i = 0 then s else (-1 -> pre A[i-1]);\n"
        "ok[i] = A[i] = -1 or A[i] = s or (false -> pre ok[i]);\n"
        "Y[i] = if k > 3 then X[i] else 0 -> pre Y[i];\n"
        'check "each" forall (i: int) 0 <= i and i < n => ok[i];\n'
        'check "now" k > 3 and k < n => Y[k] = X[k];\n'
        "tel"
    )
    assert verdicts(tmp_path, text) == {"each": "proved", "now": "proved"}
    before = text[: text.index("check")] + 'check "before" k <= 3 and 0 <= k and k < n => Y[k] = 0; tel'
    assert verdicts(tmp_path, before, timeout=2)["before"] != "proved"  # it may be what X was


def test_an_index_that_changes_has_the_steps_of_the_array(tmp_path):
    """An element takes its steps whether anyone looks at it or not."""
    text = (
        "function f(x: int) returns (y: int); let y = x + 1; tel\n"
        "node top(const n: int; k, x: int) returns (z: int);\n(*@contract assume n > 2; *)\n"
        "var A, B, C, D: int^n; outside: bool; before: int;\n"
        "let z = 0; outside = k < 0 -> k < 0 and pre outside; before = 0 -> pre x;\n"
        "A[i] = 0 -> 1; B[i] = 0 -> pre x; {} = 0 <= k and k < n => {}; tel"
    )
    equations = "C[i] = (activate f every x > 0 initial default 0)(i); D[i] = when i = x then 0 -> 1 else 5; check"
    for claim, verdict in (
        ("A[k] = (0 -> 1)", "proved"), ("B[k] = before", "proved"), ("true -> pre outside => A[k] = 0", "falsified")
    ):  # fmt: skip
        one = text.replace("{} = 0", 'C[i] = i; D[i] = i; check "P" 0').replace("{}", f"({claim})")
        assert verdicts(tmp_path, one, timeout=10) == {"P": verdict}
    for claim in ("C[k] = 0 or C[k] = k + 1", "k = x => (D[k] = (0 -> 1) or (true -> k <> pre k or D[k] = 0))"):
        one = text.replace("{} = 0", f'{equations} "P" 0').replace("{}", f"({claim})")
        assert verdicts(tmp_path, one, timeout=2) == {"P": "unknown"}


def test_an_element_that_is_put_outside(tmp_path):
    text = (
        "node top(const n: int; X: int^n; k, x: int) returns (z: int);\nvar A: int^n;\n"
        'let z = 0; A = X[x := 7]; check "any" k = x => A[k] = 7;\n'
        'check "in" k = x and 0 <= k and k < n => A[k] = 7; tel'
    )
    assert verdicts(tmp_path, text) == {"any": "falsified", "in": "proved"}


def test_arrays_that_are_assumed_to_be_equal(tmp_path):
    text = (
        "node top(const n, m: int; X, Y: int^n; V, W: int^n^m; k: int) returns (z: int);\n"
        '(*@contract assume X = Y; *) let z = 0; check "P" X = Y; check "Q" not (Y <> X);\n'
        'check "R" n > 0 => X <> Y; check "S" V = W and 0 <= k and k < m => V[k] = W[k]; tel'
    )
    assert verdicts(tmp_path, text, timeout=20) == {"P": "proved", "Q": "proved", "R": "falsified", "S": "proved"}


def test_an_element_that_needs_those_before(tmp_path):
    text = (
        "node count(const n: int; B: bool^n) returns (c: int);\n"
        "var A: int^n; let A[i] = (if i = 0 then 0 else A[i-1]) + (if B[i] then 1 else 0); c = A[n-1]; tel\n"
        "node top(const n: int; B: bool^n) returns (c: int);\n"
        "(*@contract assume n > 0; assume n <= {}; *)\n"
        'let c = count(n, B); check "least" c >= 0; check "most" c <= n; check "less" c < n; tel'
    )
    found = verdicts(tmp_path, text.replace("{}", "4"), "top")
    assert found == {"least": "proved", "most": "proved", "less": "falsified"}
    found = verdicts(tmp_path, text.replace("{}", "90"), node="top", timeout=3)
    assert found["least"] == found["most"] == "unknown"  # the elements far from the last one may have any value


def test_what_the_definition_of_an_element_claims_is_claimed_of_each(tmp_path):
    text = (
        "type Nat = subrange [0, *] of int;\nconst N, M: subrange [1, *] of int;\n"
        'node less(x, y: Nat) returns (o: Nat); let o = y; check "never five" x <> 5; tel\n'
        "node top() returns (A: int^N^M; B: Nat^M);\n"
        "let A[i][j] = less(i, j); B[i] = i - (if M > 3 then 1 else 0); tel"
    )
    found = verdicts(tmp_path, text)
    five = next(name for name in found if "never five" in name)
    assert found.pop(five) == "falsified" and found.pop("B is in its range") == "falsified"
    assert len(found) == 3 and set(found.values()) == {"proved"}  # ranges of `less`


def test_arrays_in_arrays_records_and_maps(tmp_path):
    text = (
        "const N: subrange [1, *] of int;\ntype R = struct { a: int^N; b: bool^2^N };\n"
        "node top(r: R; k: int; m: map<int, int^N>) returns (q: R; p: int^N^3);\n"
        "let q = R { a = r.a; b = false^2^N }; p[i][j] = r.a[j];\n"
        'check "a" q.a = r.a; check "b" not q.b[0][1]; check "p" p[2][0] = r.a[0];\n'
        'check "m" m[k] = m[k]; check "r" r = q; tel'
    )
    assert verdicts(tmp_path, text) == {"a": "proved", "b": "proved", "p": "proved", "m": "proved", "r": "falsified"}


def test_what_quantifiers_in_registers_need(tmp_path):
    """What stands for the equality of arrays that are not kept is made while the registers are resolved."""
    text = (
        "node top(const n: int; X: int^n; k: int) returns (z: int);\n"
        "(*@contract assume forall (i: int) 0 <= i and i < n => X[i] >= 0; *)\n"
        "var A: int^n; let z = 0; A[i] = X[i] + k;\n"
        'check "P" true -> n > 0 and pre (A = X) => pre (A[0] = X[0]); tel'
    )
    assert verdicts(tmp_path, text) == {"P": "proved"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node top(n: int; A: int^n) returns (z: int); let z = 1; tel", "the size of an array must be a constant"),
        (
            "const n: int;\nnode top(A: int^n; B: int^2) returns (z: int^n); let z = B; tel",
            "expected array_of_Int_by_n",
        ),
        ("const n: int;\nnode top(A: int^n) returns (z: bool); let z = 1 in A; tel", "expected a set or a map"),
        ("const n: int;\nnode top(x: int) returns (A: int^n); let A[i] = true; tel", "an element of A is declared int"),
        ("const n: int;\nnode top(x: int) returns (A: int^n); let A[i][j] = 1; tel", "too many indices"),
        ("const n: int;\nnode top(x: int) returns (A: int^n); let A[i] = A[i] + x; tel", "A depends on its own"),
        (
            "const n: int;\nnode top(x: int) returns (A, B: int^n); let A[i] = x + B[i]; B[j] = x -> A[j]; tel",
            "each element of A depends on its own present value",
        ),
        (
            "const n: int;\nnode late(p, q: int) returns (y: int); let y = p -> pre q; tel\n"
            "node top(x: int) returns (A, B: int^n); let A[i] = late(B[i], 0) + 1; B[j] = A[j]; tel",
            "each element of A depends on its own present value",
        ),
    ],
)
def test_mistakes(tmp_path, text, message):
    with pytest.raises(SpecError, match=message):
        verdicts(tmp_path, text)


def test_elements_that_need_each_other_at_other_indices_or_before_are_no_circle(tmp_path):
    text = """
    const n: int;
    node late(p, q: int) returns (y: int); let y = p -> pre q; tel
    node top(x: int) returns (A, B, C, D: int^n);
    let
      A[i] = if i = 0 then x else B[i];
      B[j] = if j = 0 then A[j] else 1;
      C[i] = if i = 0 then 0 -> pre C[i] + 1 else C[i - 1];
      D[i] = late(x, D[i] + 1);
      check "first" n > 0 => B[0] = x;
      check "second" n > 1 => A[1] = 1;
      check "before" n > 1 => C[1] = C[0];
    tel"""
    assert set(verdicts(tmp_path, text).values()) == {"proved"}


def test_a_run_takes_a_constant_from_its_data_and_c_asks_for_its_value(tmp_path):
    (tmp_path / "m.lus").write_text("const n: int32;\nnode top(x: int32) returns (z: int32); let z = x + n; tel\n")
    (tmp_path / "in.csv").write_text("x,n\n1,5\n2,5\n")
    command = [sys.executable, "-m", "streamcheck"]
    done = subprocess.run(
        [*command, "run", "m.lus", "--input", "in.csv"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-4:] == ["0", "6", "1", "7"] and "n may have any value" in done.stderr
    command += ["compile", "m.lus", "--observers", "-o", "c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "the C would depend on `n`, a constant without a value" in done.stderr


class RandomArrays:
    """Random definitions of arrays by `n`, and properties of them."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.arrays = ["X"]
        self.kind = self.pick("int", "Nat")
        self.equations = [self.equation(name) for name in "ABC"[: self.rng.randrange(1, 4)]]
        self.properties = [self.property() for _ in range(3)]

    def pick(self, *choices):
        return self.rng.choice(choices)

    def element(self, at):
        return f"{self.pick(*self.arrays)}[{self.pick(at, at, f'{at}-1', f'{at}+1', '0', '1', 'n-1', 'k')}]"

    def number(self, at, depth=1):
        if not depth or self.rng.random() < 0.3:
            return self.pick(str(self.rng.randrange(-2, 4)), at, "x", self.element(at))
        a, b = self.number(at, depth - 1), self.number(at, depth - 1)
        kinds = f"({a} + {b})", f"({a} - {b})", f"(if {a} < {b} then {a} else {b})", f"f({a})", f"(0 -> pre ({a}))"
        return self.pick(*kinds)

    def equation(self, name):
        arrays = self.arrays
        kinds = [f"{name} = x^n;", f"{name} = if x > 0 then {self.pick(*arrays)} else {self.pick(*arrays)};"]
        kinds += [f"{name} = (0^n) -> pre {self.pick(*arrays, name)};", f"{name}[i] = {self.number('i', 2)};"]
        kinds += [f"{name}[i] = if i = 0 then {self.number('i')} else {name}[i-1] + {self.number('i')};"]
        kinds += [f"{name}[i] = if {self.number('i')} > 0 then {self.element('i')} else (1 -> pre {name}[i]);"]
        text = self.pick(*kinds)
        self.arrays.append(name)
        return text

    def property(self):
        a, b = self.pick(*self.arrays), self.pick(*self.arrays)
        kinds = [f"{a} = {b}", f"forall (i: int) 0 <= i and i < n => {self.number('i')} <= {self.number('i', 2)}"]
        kinds += [f"0 <= k and k < n => {self.number('k')} <> {self.number('k', 2)}", f"{a}[0] >= {self.number('0')}"]
        return self.pick(*kinds, f"{a} = {b} => {self.element('0')} = {self.element('0')}")

    def text(self, size):
        claims = "\n".join(f'check "p{i}" {p};' for i, p in enumerate(self.properties))
        names = ", ".join(self.arrays[1:])
        return (
            f"const n: int{size};\nfunction f(y: int | y > -9) returns (z: int); let z = y + 1; tel\n"
            "type Nat = subtype { m: int | m >= 0 };\n"
            f"node top(X: {self.kind}^n; x, k: int) returns (z: int);\n(*@contract assume n >= 1; *)\n"
            f"var {names}: int^n;\nlet z = x;\n" + "\n".join(self.equations) + f"\n{claims}\ntel\n"
        )


def proved_and_falsified(path, text):
    """The verdicts, and the size in the run that breaks each property."""
    path.write_text(text)
    words = [sys.executable, "-m", "streamcheck", "prove", str(path), "--no-cache", "--json", "--timeout", "3"]
    done = subprocess.run(words, capture_output=True, text=True)
    if "is outside Array" in done.stderr:  # an index that is a number, of an array whose size is one
        return {}, {}
    assert done.returncode in (0, 1, 3), text + done.stderr
    properties = [p for p in json.loads(done.stdout)["properties"] if p["name"] in ("p0", "p1", "p2")]
    sizes = {
        p["name"]: p["counterexample"]["steps"][0]["streams"].get("n")
        for p in properties
        if p["verdict"] == "falsified"
    }
    return {p["name"]: p["verdict"] for p in properties}, sizes


@pytest.mark.parametrize("seed", range(4))
def test_the_same_verdicts_as_with_sizes(tmp_path, seed):
    arrays = RandomArrays(seed)
    found, sizes = proved_and_falsified(tmp_path / "m.lus", arrays.text(""))
    for size in {1, 2, 3, *(s for s in sizes.values() if s is not None and 1 <= s <= 9)}:
        with_size, _ = proved_and_falsified(tmp_path / "n.lus", arrays.text(f" = {size}"))
        for name, verdict in found.items():
            expected = "proved" if verdict == "proved" else "falsified" if sizes.get(name) == size else None
            if expected is not None and name in with_size:
                assert with_size[name] in (expected, "unknown"), (size, name, arrays.text(""))


def test_the_text_of_what_is_asked(tmp_path):
    (tmp_path / "m.lus").write_text(
        "node top(const n: int; A: int^n) returns (z: int); let z = A[n - 1]; check z > 0; tel"
    )
    (spec,) = read_lustre(str(tmp_path / "m.lus"))
    assert [i.name for i in spec.inputs] == ["A[n - 1]"]
