"""Small programs in C whose claim is decided by following all values."""

from random import Random

TEXT = """extern int nondet_int(void);

int main(void) {{
    unsigned char x = {first}, y = {second};
    while (nondet_int()) {{
        if (x {compared} {most}) {{ x = x + {step}; y = {other}; }} else x = {again};
        if (nondet_int()) y = {more};
    }}
    assert({claim});
    return 0;
}}
"""
VALUES = {"y": lambda x, y: y, "x": lambda x, y: x, "y + 1": lambda x, y: y + 1, "x ^ y": lambda x, y: x ^ y}
VALUES |= {"y & 3": lambda x, y: y & 3, "2 * y": lambda x, y: 2 * y, "0": lambda x, y: 0, "x / 2": lambda x, y: x // 2}
CLAIMS = {"x != {n}": lambda n: lambda x, y: x != n, "x <= {n}": lambda n: lambda x, y: x <= n}
CLAIMS |= {"y <= x + {n}": lambda n: lambda x, y: y <= x + n}
CLAIMS |= {"(x + y) % 2 == 0": lambda n: lambda x, y: (x + y) % 2 == 0}
COMPARED = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "!=": lambda a, b: a != b}


def small_program(seed):
    """The text, and if its claim holds."""
    rng = Random(seed)
    first, second, most, step, again, n = (rng.randint(0, 9) for _ in range(6))
    compared, claim = rng.choice(list(COMPARED)), rng.choice(list(CLAIMS))
    other, more = rng.choice(list(VALUES)), rng.choice(list(VALUES))
    text = TEXT.format(
        first=first,
        second=second,
        compared=compared,
        most=most + 5,
        step=step,
        again=again,
        other=other,
        more=more,
        claim=claim.format(n=n),
    )
    holds = CLAIMS[claim](n)

    def after(x, y):
        if COMPARED[compared](x, most + 5):
            x = (x + step) % 256
            y = VALUES[other](x, y) % 256
        else:
            x = again
        yield x, y
        yield x, VALUES[more](x, y) % 256

    seen, waiting = {(first, second)}, [(first, second)]
    while waiting:
        new = {pair for state in waiting for pair in after(*state)} - seen
        seen |= new
        waiting = list(new)
    return text, all(holds(*pair) for pair in seen)
