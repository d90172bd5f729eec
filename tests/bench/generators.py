"""Families of problems that grow with a number."""

from __future__ import annotations


def locks(n: int) -> str:
    """A C program that takes n locks, each if its flag says so, and releases them in the same order."""
    flags = "\n".join(f"int want{i} = __VERIFIER_nondet_int(); int held{i};" for i in range(n))
    freed = "\n".join(f"held{i} = 0;" for i in range(n))
    taken = "\n".join(f"if (want{i}) {{ held{i} = 1; }}" for i in range(n))
    released = "\n".join(f"if (want{i}) {{ assert(held{i} == 1); held{i} = 0; }}" for i in range(n))
    # one error for all, as in the locks of SV-COMP
    released = released.replace("assert(", "if (!(").replace(" == 1);", " == 1)) goto wrong;")
    body = f"while (__VERIFIER_nondet_int()) {{\n{freed}\n{taken}\n{released}\n}}\nreturn 0;\nwrong: reach_error();\nreturn 1;"
    return f"extern int __VERIFIER_nondet_int(void);\nextern void reach_error(void);\nint main(void) {{\n{flags}\n{body}\n}}\n"


def cluttered(n: int) -> str:
    """A spec whose property needs a counter and its reset, and reads n accumulators that do not matter: each feeds the
    next, with products that are hard to reason about."""
    noise = "\n".join(
        f"a{i} = stream(Int32, lambda a: [{i}] ++ (a * a{i - 1} + {'a' if i % 2 else f'a{i - 1}'} * 7))" if i else
        'a0 = stream(Int32, lambda a: [1] ++ (a * x + 3))'
        for i in range(n)
    )
    return f"""from streamcheck import *
x = extern("x", Int32)
{noise}
parity = a{n - 1} > 0
count = stream(Int32, lambda c: [0] ++ mux(c >= 5, 0, mux(parity, c + 1, c)))
spec = Spec("cluttered")
spec.prop("bounded", count <= 5)
"""
