"""streamcheck: monitors as Python code, proved for all inputs and all time.

The language is loaded when the first of its names is asked for: a command that reads other languages needs none. The
types of results are loaded one by one: no spec needs them, and a program that proves specs may name them.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

RESULTS = {
    "Certificate": "streamcheck.problem.verdict",
    "EngineInfo": "streamcheck.api.engines",
    "InterpretedRun": "streamcheck.api.runs",
    "LoadedSpec": "streamcheck.api.files",
    "PropertyResult": "streamcheck.api.results",
    "Replay": "streamcheck.problem.result",
    "Result": "streamcheck.problem.result",
    "Results": "streamcheck.api.results",
    "RecordedPath": "streamcheck.api.results",
    "RecordedRun": "streamcheck.api.results",
    "Trace": "streamcheck.problem.verdict",
    "Verdicts": "streamcheck.problem.result",
    "check": "streamcheck.api.files",
    "equal": "streamcheck.api.equality",
    "load": "streamcheck.api.files",
    "list_engines": "streamcheck.api.engines",
    "load_all": "streamcheck.api.files",
    "watch": "streamcheck.api.watching",
}

TYPE_CHECKING = False  # of `typing`, which takes time to load
if TYPE_CHECKING:
    from typing import Any

    from streamcheck.api.engines import EngineInfo as EngineInfo
    from streamcheck.api.engines import list_engines as list_engines
    from streamcheck.api.equality import equal as equal
    from streamcheck.api.files import LoadedSpec as LoadedSpec
    from streamcheck.api.files import check as check
    from streamcheck.api.files import load as load
    from streamcheck.api.files import load_all as load_all
    from streamcheck.api.results import PropertyResult as PropertyResult
    from streamcheck.api.results import RecordedPath as RecordedPath
    from streamcheck.api.results import RecordedRun as RecordedRun
    from streamcheck.api.results import Results as Results
    from streamcheck.api.runs import InterpretedRun as InterpretedRun
    from streamcheck.api.watching import watch as watch
    from streamcheck.problem.result import Replay as Replay
    from streamcheck.problem.result import Result as Result
    from streamcheck.problem.result import Verdicts as Verdicts
    from streamcheck.problem.verdict import Certificate as Certificate
    from streamcheck.problem.verdict import Trace as Trace
    from streamcheck.public import *  # noqa: F403
    from streamcheck.public import SpecError as SpecError
    from streamcheck.public import Step as Step


def require_unix() -> None:
    """ImportError on a system that has no processes as Unix has them: Windows, or a browser."""
    import os

    missing = [] if hasattr(os, "fork") else ["os.fork"]
    try:
        import resource  # noqa: F401
    except ImportError:
        missing.append("resource")
    if missing:
        raise ImportError(
            f"streamcheck needs {' and '.join(missing)}, which Python has on Linux and macOS only; on Windows,"
            " install it in WSL (the Windows Subsystem for Linux)"
        )


def __dir__() -> list[str]:
    """The public names."""
    return sorted([*import_module("streamcheck.public").__all__, *RESULTS, "SpecError", "Step", "__version__"])


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(name)
    require_unix()
    return getattr(import_module(RESULTS.get(name, "streamcheck.public")), name)
