"""The names that `from streamcheck import *` gives: the language."""

from functools import partial
from types import FunctionType

from streamcheck.api import Spec
from streamcheck.api.components import component, contract
from streamcheck.core.errors import SpecError as SpecError
from streamcheck.interpret.step import Step as Step
from streamcheck.lang.build import (
    acos,
    all_of,
    any_of,
    asin,
    atan,
    atan2,
    case,
    cast,
    ceil,
    cos,
    cosh,
    count_of,
    drop,
    exists,
    exp,
    extern,
    first,
    floor,
    forall,
    implies,
    log,
    maximum,
    minimum,
    mux,
    pre,
    quot,
    rem,
    reset,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    then,
    unknown,
    unsafe_cast,
)
from streamcheck.lang.calls import in_users_words
from streamcheck.lang.component import assume, contract_mode, guarantee
from streamcheck.lang.define import stream
from streamcheck.lang.lib import (
    checked,
    clocks,
    ltl,
    ltl3,
    machines,
    mtl,
    ptltl,
    regexp,
    saturating,
    signals,
    statistics,
    voting,
)
from streamcheck.lang.requirements.requirement import requirement, requirements
from streamcheck.lang.stream import Stream
from streamcheck.lang.types import (
    Array,
    Bool,
    Double,
    EnumOf,
    Float,
    Int,
    Int8,
    Int16,
    Int32,
    Int64,
    Real,
    Word8,
    Word16,
    Word32,
    Word64,
    struct,
)

__all__ = [
    "Array",
    "Bool",
    "Double",
    "EnumOf",
    "Float",
    "Int",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Real",
    "Spec",
    "Stream",
    "Word8",
    "Word16",
    "Word32",
    "Word64",
    "acos",
    "all_of",
    "any_of",
    "asin",
    "assume",
    "atan",
    "atan2",
    "case",
    "cast",
    "ceil",
    "checked",
    "clocks",
    "component",
    "contract",
    "contract_mode",
    "cos",
    "cosh",
    "count_of",
    "drop",
    "exists",
    "exp",
    "extern",
    "first",
    "floor",
    "forall",
    "guarantee",
    "implies",
    "log",
    "ltl",
    "ltl3",
    "machines",
    "maximum",
    "minimum",
    "mtl",
    "mux",
    "pre",
    "ptltl",
    "quot",
    "regexp",
    "rem",
    "requirement",
    "requirements",
    "reset",
    "saturating",
    "signals",
    "sin",
    "sinh",
    "sqrt",
    "statistics",
    "stream",
    "struct",
    "tan",
    "tanh",
    "then",
    "unknown",
    "unsafe_cast",
    "voting",
]

for _name, _value in list(globals().items()):
    if isinstance(_value, FunctionType) and _name in __all__:
        globals()[_name] = in_users_words(_value)
for _module in (checked, clocks, ltl, ltl3, machines, mtl, ptltl, regexp, saturating, signals, statistics, voting):
    vars(_module)["__dir__"] = partial(sorted, _module.__all__)  # completion shows these
    for _name in _module.__all__:
        if isinstance(vars(_module)[_name], FunctionType):
            vars(_module)[_name] = in_users_words(
                vars(_module)[_name], f"{_module.__name__.rpartition('.')[2]}.{_name}"
            )
