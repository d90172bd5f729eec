"""BTOR2: what is read means what it says, and mistakes are named with their line."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_formats import proved

from streamcheck import SpecError
from streamcheck.core.evaluate import evaluate
from streamcheck.core.term import variables
from streamcheck.frontends.btor2 import read_btor2
from streamcheck.run.prove import Settings, prove

RANDOM = settings(
    max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def btor2(tmp_path, text):
    path = tmp_path / "spec.btor2"
    path.write_text(text)
    return read_btor2(str(path))


def signed(value, width=8):
    return value - (1 << width) if value >> (width - 1) else value


def truncated(a, b):
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "udiv": lambda a, b: a // b if b else 255,
    "urem": lambda a, b: a % b if b else a,
    "sdiv": lambda a, b: truncated(signed(a), signed(b)) if b else (1 if signed(a) < 0 else -1),
    "srem": lambda a, b: signed(a) - signed(b) * truncated(signed(a), signed(b)) if b else a,
    "smod": lambda a, b: signed(a) % signed(b) if b else a,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
    "sll": lambda a, b: a << b if b < 8 else 0,
    "srl": lambda a, b: a >> b,
    "sra": lambda a, b: signed(a) >> min(b, 8),
    "rol": lambda a, b: a << b % 8 | a >> (8 - b % 8),
    "ror": lambda a, b: a >> b % 8 | a << (8 - b % 8),
}
BITS = {
    "ult": lambda a, b: a < b,
    "ulte": lambda a, b: a <= b,
    "ugt": lambda a, b: a > b,
    "ugte": lambda a, b: a >= b,
    "slt": lambda a, b: signed(a) < signed(b),
    "slte": lambda a, b: signed(a) <= signed(b),
    "sgt": lambda a, b: signed(a) > signed(b),
    "sgte": lambda a, b: signed(a) >= signed(b),
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "uaddo": lambda a, b: a + b > 255,
    "saddo": lambda a, b: not -128 <= signed(a) + signed(b) <= 127,
    "usubo": lambda a, b: a < b,
    "ssubo": lambda a, b: not -128 <= signed(a) - signed(b) <= 127,
    "umulo": lambda a, b: a * b > 255,
    "smulo": lambda a, b: not -128 <= signed(a) * signed(b) <= 127,
    "sdivo": lambda a, b: a == 128 and b == 255,
}


@pytest.mark.parametrize("op", [*OPERATIONS, *BITS])
@settings(max_examples=30, deadline=None, database=None)
@given(a=st.integers(0, 255), b=st.sampled_from([0, 1, 2, 7, 8, 9, 127, 128, 200, 255]))
def test_btor2_operations(op, tmp_path_factory, a, b):
    wide = op in OPERATIONS
    expected = int((OPERATIONS.get(op) or BITS[op])(a, b)) % (256 if wide else 2)
    sort = "2" if wide else "1"
    text = f"""1 sort bitvec 1
2 sort bitvec 8
3 input 2 a
4 input 2 b
5 {op} {sort} 3 4
6 constd {sort} {expected}
7 neq 1 5 6
8 bad 7"""
    (claim,) = btor2(tmp_path_factory.mktemp("btor"), text).properties
    given = {v: {"a": a, "b": b}[v.payload] for v in variables([claim.term])}
    assert evaluate([claim.term], given)[claim.term] is True


def test_btor2_one_bit_division(tmp_path):
    text = "1 sort bitvec 1\n2 one 1\n3 zero 1\n4 sdiv 1 2 3\n5 sdiv 1 2 2\n6 xnor 1 4 5\n7 bad 6\n8 bad 4\n"
    values = [p.term.payload for p in btor2(tmp_path, text).properties]
    assert values == [False, False]  # both quotients are 1


def test_btor2_unary_operations_and_sizes(tmp_path):
    text = """1 sort bitvec 1
2 sort bitvec 8
3 sort bitvec 12
4 constd 2 150
5 uext 3 4 4
6 sext 3 4 4
7 slice 2 6 11 4
8 concat 3 7 7
"""
    checks = [("5", "3", 150), ("6", "3", 150 - 256), ("7", "2", 0xF9)]
    checks += [("9", "2", ~150), ("10", "2", -150), ("11", "2", 151), ("12", "2", 149)]
    checks += [("13", "1", 0), ("14", "1", 1), ("15", "1", 0), ("-4", "2", ~150)]
    text = text.replace("8 concat 3 7 7\n", "")
    text += "9 not 2 4\n10 neg 2 4\n11 inc 2 4\n12 dec 2 4\n13 redand 1 4\n14 redor 1 4\n15 redxor 1 4\n"
    for i, (node, sort, value) in enumerate(checks):
        n = 20 + 4 * i
        value %= 256 if sort == "2" else 4096
        text += f"{n} constd {sort} {value}\n{n + 1} neq 1 {node} {n}\n{n + 2} bad {n + 1}\n"
    claims = [p.term for p in btor2(tmp_path, text).properties]
    assert len(claims) == len(checks) and all(c.payload is True for c in claims)


COUNTER = """; counts while enabled
1 sort bitvec 1
2 sort bitvec 4
3 input 1 enable
4 state 2 count
5 zero 2
6 init 2 4 5
7 inc 2 4
8 ite 2 3 7 4
9 next 2 4 8
10 constd 2 9
11 eq 1 4 10
12 bad 11 nine
13 state 2 free
14 next 2 13 13
15 eq 1 13 10
16 bad 15
17 constd 2 3
18 ulte 1 4 17
"""


def test_btor2_states_constraints_and_free_starts(tmp_path):
    results = {r.name: r for r in prove(btor2(tmp_path, COUNTER), Settings(timeout=20, jobs=1)).results}
    assert results["nine"].verdict == "falsified" and results["nine"].k == 9
    assert results["bad 16"].verdict == "falsified" and results["bad 16"].k == 0
    bounded = proved(btor2(tmp_path, COUNTER + "19 constraint 18\n"))
    assert bounded == {"nine": "proved", "bad 16": "falsified"}
    copied = proved(btor2(tmp_path, COUNTER + "19 init 2 13 4\n"))  # begins as the counter does
    assert copied["bad 16"] == "proved"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("1 sort array 2 3", 1, "2 is not the number of a sort"),
        ("1 sort bitvec 0", 1, "a bit-vector has 1 to 65536 bits, not 0"),
        ("1 sort bitvec 1100000000000000000000\n2 zero 1", 1, "1 to 65536 bits, not 11000"),
        ("1 sort bitvec 13\n2 sort array 1 1", 2, "arrays of more than 4096 elements"),
        ("1 sort bitvec 1\n1 sort bitvec 2", 2, "the number 1 is already defined at line 1"),
        ("1 sort bitvec 8\n2 sort bitvec 1\n3 zero 1\n4 eq 1 3 3", 4, "expected Word8, found Bool"),
        ("1 sort bitvec 8\n2 sort bitvec 1\n3 zero 2\n4 state 1\n5 init 1 4 3", 5, "is Word8, the value Bool"),
        ("1 sort bitvec 8\n2 constd 1 256", 2, "256 has more than 8 bits"),
        ("1 sort bitvec 8\n2 const 1 101", 2, "`const` has a digit for each of 8 bits, and 101 has 3"),
        ("1 sort bitvec 8\n2 one 1\n3 slice 1 2 8 1", 3, "bits 8 to 1 of 8 bits"),
        ("1 sort bitvec 8\n2 one 1\n3 add 1 2", 3, "expected 3 numbers after `add`, found 2"),
        ("1 sort bitvec 8\n2 one 1\n3 neg 1 2 a b", 3, "expected the end of the line, found b"),
        ("1 sort bitvec 8\n2 one 1\n3 foo 1 2 2", 3, "unknown operation 'foo'"),
        ("1 sort bitvec 1\n2 justice 1 1", 2, "liveness is not supported"),
        ("1 sort bitvec 8\n2 read 1 1 1", 2, "1 is not the number of a value defined above"),
        ("1 sort", 1, "a sort is `bitvec WIDTH` or `array SORT SORT`"),
        ("1 sort bitvec 8\n2 input 1\n3 bad 2", 3, "expected one bit"),
        ("1 sort bitvec 8\n2 sort bitvec 9\n3 input 1\n4 input 2\n5 add 1 3 4", 5, "different"),
    ],
)
def test_mistakes_in_btor2_are_named_with_their_line(tmp_path, text, line, said):
    with pytest.raises(SpecError, match=re.escape(said)) as caught:
        btor2(tmp_path, text)
    assert caught.value.where.line == line


def test_symbols_at_the_end_of_any_line(tmp_path):
    """As yosys writes them; one of digits is no operand."""
    text = "1 sort bitvec 1 bit\n2 state 1 s\n3 zero 1 off\n4 init 1 2 3 i\n5 not 1 2 475494064\n"
    text += "6 next 1 2 5 n ; a comment\n7 bad 2 b0\n8 constraint 5 c\n9 output 5 o\n"
    assert proved(btor2(tmp_path, text)) == {"b0": "proved"}
    without = "\n".join(line for line in text.splitlines() if "constraint" not in line)
    assert proved(btor2(tmp_path, without)) == {"b0": "falsified"}


def test_btor2_arrays(tmp_path):
    """A memory of 16 bytes that begins with zeros: what is written is read, and cells keep their values."""
    text = """1 sort bitvec 1
2 sort bitvec 4
3 sort bitvec 8
4 sort array 2 3 memory
5 state 4 ram
6 zero 3
7 init 4 5 6
8 input 2 address
9 input 3 data
10 write 4 5 8 9
11 next 4 5 10
12 read 3 10 8
13 neq 1 12 9
14 bad 13 lost
15 constd 3 255
16 ult 1 9 15
17 constraint 16
18 input 2 anywhere
19 read 3 5 18
20 eq 1 19 15
21 bad 20 full
22 neq 1 10 5
23 bad 22 changed
24 ite 4 16 5 10
25 neq 1 24 5
26 bad 25 chosen
"""
    verdicts = {"lost": "proved", "full": "proved", "changed": "falsified", "chosen": "proved"}
    assert proved(btor2(tmp_path, text)) == verdicts


def test_wide_bit_vectors(tmp_path):
    """Wider than any float: a counter of 1,100 bits."""
    text = "1 sort bitvec 1100\n2 zero 1\n3 state 1 c\n4 init 1 3 2\n5 one 1\n6 add 1 3 5\n7 next 1 3 6\n"
    text += "8 sort bitvec 1\n9 ones 1\n10 eq 8 3 9\n11 bad 10\n12 constd 1 3\n13 eq 8 3 12\n14 bad 13 three\n"
    results = {r.name: r for r in prove(btor2(tmp_path, text), Settings(timeout=4, jobs=1)).results}
    assert results["three"].k == 3 and results["bad 11"].verdict == "unknown"
