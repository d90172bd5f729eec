"""Ways to damage data and text, repeatable from a random generator."""

import copy

VALUES = None, True, -1, 0, 1, 2, 255, 1.5, 10**30, 1e308, float("nan"), "", "x", [], {}, [[]], {"a": 1}, [0, 0]
CHARACTERS = "\0\t\n\"'():;\\{\u2028\U0010ffff"


def places(data, here=()):
    """The ways to all parts of plain data."""
    if here:
        yield here
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*here, key))


def part(data, way):
    for key in way:
        data = data[key]
    return data


def damaged(rng, data, times=1):
    """A copy of plain data in which parts are removed, doubled, exchanged for others or for corner values."""
    data = copy.deepcopy(data)
    for _ in range(times):
        ways = [*places(data)]
        if not ways:
            return data
        *way, last = rng.choice(ways)
        inner = part(data, way)
        match rng.randrange(6):
            case 0:
                del inner[last]
            case 1:
                inner[last] = copy.deepcopy(part(data, rng.choice(ways)))
            case 2 if isinstance(inner, list):
                inner.insert(last, copy.deepcopy(inner[last]))
            case 3 if isinstance(inner[last], int) and not isinstance(inner[last], bool):
                inner[last] += rng.choice((-1, 1, 2, 256))
            case 4 if isinstance(inner[last], str):
                inner[last] = text_damaged(rng, inner[last])
            case _:
                inner[last] = copy.deepcopy(rng.choice(VALUES))
    return data


def text_damaged(rng, text, times=1, words=("",)):
    """A text with characters changed, parts removed, doubled or moved, and words of others put in."""
    for _ in range(times):
        a = rng.randrange(len(text) + 1)
        b = min(len(text), a + rng.choice((1, 1, 2, 5, 20, 200)))
        match rng.randrange(6):
            case 0:
                text = text[:a] + text[b:]
            case 1:
                text = text[:b] + text[a:b] * rng.choice((1, 1, 2, 50)) + text[b:]
            case 2:
                text = text[:a] + rng.choice(CHARACTERS) + text[b:]
            case 3:
                text = text[:a] + rng.choice(words) + text[a:]
            case 4:
                text = text[:a] + str(rng.choice((0, -1, 2**31, 2**64, 10**400, 1e-400))) + text[b:]
            case _:
                c = rng.randrange(len(text) + 1)
                text = text[:c] + text[a:b] + text[c:]
    return text
