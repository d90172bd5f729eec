"""streamcheck: monitors as Python code, proved for all inputs and all time.

The public names are loaded when the first of them is asked for: a command that reads other languages needs none.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from streamcheck.public import *  # noqa: F403
    from streamcheck.public import SpecError as SpecError
    from streamcheck.public import Step as Step


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    return getattr(import_module("streamcheck.public"), name)
