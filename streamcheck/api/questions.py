"""Questions about a spec beside its verdicts: why its properties are true, what would break them, and tests."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from streamcheck.api.arguments import Count, Duration, PathText, check_arguments
from streamcheck.problem.problem import Problem

if TYPE_CHECKING:
    from streamcheck.api.mutants import MutantsAnswer
    from streamcheck.api.needs import NeedsAnswer
    from streamcheck.api.suite import SuiteAnswer
    from streamcheck.run.needs import Wishes
    from streamcheck.run.prove import Settings


class Questions(ABC):
    """`why`, `cuts`, `tests` and `mutants`, with the options that the command has."""

    @abstractmethod
    def _problem(self) -> Problem:
        """The spec or the program, as the command has it."""

    @abstractmethod
    def _file(self) -> str:
        """The file that it is from."""

    @check_arguments
    def why(
        self,
        *,
        props: Sequence[str] = (),
        minimal: bool = False,
        all_cores: bool = False,
        over: Literal["all", "equations", "assumptions"] = "all",
        only: Sequence[str] = (),
        timeout: Duration = 60.0,
        jobs: Count | None = None,
        cache: PathText | None = None,
    ) -> NeedsAnswer:
        """The equations and assumptions that each proved property needs, as `streamcheck why` shows them.

        One core of each; a `minimal` one; or `all_cores` that are minimal. Only elements of these kinds (`over`) and
        names (`only`, * matches anything) may be free. `answer["p"].cores` has the cores of a property, each with its
        certificate about the weakened specification, and `answer.coverage_gaps` the elements that no property needs."""
        from streamcheck.run.needs import Wishes

        wish: Literal["one", "minimal", "all"] = "all" if all_cores else "minimal" if minimal else "one"
        return self._needs(Wishes(wish, over, tuple(only)), props, timeout, jobs, cache)

    @check_arguments
    def cuts(
        self,
        *,
        props: Sequence[str] = (),
        over: Literal["all", "equations", "assumptions"] = "all",
        only: Sequence[str] = (),
        most: Count | None = None,
        timeout: Duration = 60.0,
        jobs: Count | None = None,
        cache: PathText | None = None,
    ) -> NeedsAnswer:
        """The minimal sets of equations and assumptions that break a proved property when they are free, the smallest
        first, as `streamcheck cuts` shows them: of at most `most` elements. `answer["p"].cuts` has those of a property,
        and `answer.runs("p")` the runs."""
        from streamcheck.run.needs import Wishes

        return self._needs(Wishes("cuts", over, tuple(only), most), props, timeout, jobs, cache)

    @check_arguments
    def tests(
        self,
        directory: PathText,
        *,
        timeout: Duration = 60.0,
        jobs: Count | None = None,
    ) -> SuiteAnswer:
        """Few runs that cover each branch, premise, trigger, mode and condition of a decision (MC/DC), as files of this
        directory in CSV, for pytest and in C, as by `streamcheck tests`. `answer.goals` says which run covers a goal,
        and which no run does."""
        from streamcheck.api.results import require_specification
        from streamcheck.api.suite import write_suite
        from streamcheck.run.prove import Settings
        from streamcheck.run.strategy import processors
        from streamcheck.run.suites import suite_of

        settings = Settings(timeout, jobs or processors())
        suite = suite_of(require_specification(self._problem()), settings)
        return write_suite(suite, self._file(), os.fspath(directory))

    @check_arguments
    def mutants(
        self,
        *,
        props: Sequence[str] = (),
        timeout: Duration = 60.0,
        jobs: Count | None = None,
        cache: PathText | None = None,
    ) -> MutantsAnswer:
        """Small changes of the equations, each noticed by a proved property, equivalent, or not noticed, as
        `streamcheck mutants` shows them."""
        from streamcheck.api.mutants import MutantsAnswer
        from streamcheck.api.results import require_specification
        from streamcheck.run.mutants import mutants_of

        settings = _settings(props, timeout, jobs, cache)
        return MutantsAnswer.of(mutants_of(require_specification(self._problem()), settings), self._file())

    def _needs(
        self, wishes: Wishes, props: Sequence[str], timeout: float, jobs: int | None, cache: PathText | None
    ) -> NeedsAnswer:
        from streamcheck.api.needs import NeedsAnswer
        from streamcheck.api.results import require_specification
        from streamcheck.run.needs import needs_of

        settings = _settings(props, timeout, jobs, cache)
        whole = needs_of(require_specification(self._problem()), settings, wishes)
        return NeedsAnswer.of(whole, self._file(), shows_cuts=wishes.wish == "cuts")


def _settings(props: Sequence[str], timeout: float, jobs: int | None, cache: PathText | None) -> Settings:
    from streamcheck.run.cache import Cache
    from streamcheck.run.folders import make_folders
    from streamcheck.run.prove import Settings
    from streamcheck.run.strategy import processors

    make_folders([] if cache is None else [os.fspath(cache)])
    kept = None if cache is None else Cache(os.fspath(cache))
    return Settings(timeout, jobs or processors(), props=props, cache=kept)
