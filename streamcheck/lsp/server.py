"""The server: documents come in, analyses run beside it, what they find goes out (LSP 3.17, over standard input and
output).

    opened, saved        the text is loaded and proved
    changed              what runs is cancelled; after a pause, the text is loaded
    prove, explain       commands of the code lenses: the text as it is now is loaded and proved
    closed, shut down    what runs is cancelled
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from lsprotocol import types as lsp
from pygls.io_ import StdoutWriter, run_async
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from streamcheck import __version__
from streamcheck.lsp.analysis import Job
from streamcheck.lsp.documents import Findings, is_analysed
from streamcheck.lsp.processes import answers
from streamcheck.lsp.shown import EXPLAIN, PROVE, TRACE, Shown, uri_of
from streamcheck.run.stop import SIGNALS

PAUSE = 0.3  # seconds without a keystroke before a text is loaded
TOGETHER = 0.1  # seconds from what is shown to what is shown next: a slow client would keep the server waiting
LONGEST = 1 << 26  # bytes of a message


@dataclass(slots=True)
class OpenDocument:
    """An open text and the task that analyses it."""

    uri: str
    path: str
    known: Findings = field(default_factory=Findings)
    task: asyncio.Task[list[str]] | None = None


class SpecServer:
    """The language server for specs and programs."""

    def __init__(self, timeout: float, jobs: int | None) -> None:
        self.timeout, self.jobs = timeout, jobs
        self.documents: dict[str, OpenDocument] = {}
        self.texts: tempfile.TemporaryDirectory[str] | None = None  # that clients are asked to show
        self.protocol = LanguageServer("streamcheck", __version__)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._add_features()

    # The documents

    def open_text(self, params: lsp.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = to_fs_path(uri)
        if path is not None and uri.startswith("file:"):
            self.documents[uri] = OpenDocument(uri, path)
            self._analyse(self.documents[uri], proves=True)

    def change_text(self, params: lsp.DidChangeTextDocumentParams) -> None:
        document = self.documents.get(params.text_document.uri)
        if document is not None:
            document.known.verdicts.clear()
            self._analyse(document, proves=False, pause=PAUSE)

    def save_text(self, params: lsp.DidSaveTextDocumentParams) -> None:
        document = self.documents.get(params.text_document.uri)
        if document is not None:
            self._analyse(document, proves=True)

    def close_text(self, params: lsp.DidCloseTextDocumentParams) -> None:
        document = self.documents.pop(params.text_document.uri, None)
        if document is not None:
            self._cancel(document)
            self._publish(document, [])

    async def shut_down(self, *_: object) -> None:
        """Returns when nothing runs any more."""
        self.documents.clear()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # The analyses

    def _analyse(self, document: OpenDocument, *, pause: float = 0.0, **wishes: Any) -> asyncio.Task[list[str]] | None:
        """Begin an analysis of the text as it is now, in place of the one that runs. None if there is nothing to do."""
        self._cancel(document)
        text = self.protocol.workspace.get_text_document(document.uri).source
        if not is_analysed(document.path, text):
            document.known = Findings()
            self._publish(document, [])
            return None
        job = Job(document.path, text, os.getpid(), timeout=self.timeout, jobs=self.jobs, **wishes)
        task = asyncio.get_running_loop().create_task(self._run(document, job, pause))
        document.task = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _cancel(self, document: OpenDocument) -> None:
        if document.task is not None:
            document.task.cancel()
            document.task = None
        document.known.rest()

    async def _run(self, document: OpenDocument, job: Job, pause: float) -> list[str]:
        """Publish what the analysis finds. Returns the lines that explain, if the job asks for them."""
        await asyncio.sleep(pause)
        explained: list[str] = []
        async with aclosing(answers(job, self._folder(document))) as found:
            async for rows in found:
                for row in rows:
                    explained += row["lines"] if row["kind"] == "explained" else []
                    document.known.learn(row)
                self._show(document)
                await asyncio.sleep(TOGETHER)
        document.known.rest()
        self._show(document)
        return explained

    def _folder(self, document: OpenDocument) -> str:
        """The folder of the workspace, where the command keeps its evidence too."""
        root = self.protocol.workspace.root_path
        return root if root is not None and os.path.isdir(root) else os.path.dirname(document.path)

    # What the client shows

    def _view(self, uri: str) -> Shown:
        document = self.documents.get(uri) or OpenDocument(uri, to_fs_path(uri) or "")
        text = self.protocol.workspace.get_text_document(uri)
        units = text.position_codec.client_num_units
        return Shown(uri, document.path, text.lines, document.known, units)

    def _show(self, document: OpenDocument) -> None:
        """Send the diagnostics, and ask the client to ask for the rest again."""
        self._publish(document, list(self._view(document.uri).diagnostics()))
        workspace = self.protocol.client_capabilities.workspace
        if workspace is not None and workspace.code_lens is not None and workspace.code_lens.refresh_support:
            self.protocol.workspace_code_lens_refresh(None)
        if workspace is not None and workspace.inlay_hint is not None and workspace.inlay_hint.refresh_support:
            self.protocol.workspace_inlay_hint_refresh(None)

    def _publish(self, document: OpenDocument, diagnostics: list[lsp.Diagnostic]) -> None:
        version = self.protocol.workspace.get_text_document(document.uri).version
        params = lsp.PublishDiagnosticsParams(document.uri, diagnostics, version)
        self.protocol.text_document_publish_diagnostics(params)

    def lenses(self, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        return list(self._view(params.text_document.uri).lenses())

    def hints(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return list(self._view(params.text_document.uri).hints(params.range.start.line, params.range.end.line))

    def hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        return self._view(uri).hover(self._position(uri, params.position))

    def definition(self, params: lsp.DefinitionParams) -> list[lsp.Location]:
        uri = params.text_document.uri
        return list(self._view(uri).definitions(self._position(uri, params.position)))

    def _position(self, uri: str, position: lsp.Position) -> lsp.Position:
        """The position in characters."""
        text = self.protocol.workspace.get_text_document(uri)
        at = text.position_codec.position_from_client_units(text.lines, position)
        return lsp.Position(at.line, at.character)

    # The commands

    def prove(self, uri: str, spec: str, name: str) -> None:
        """Prove one property."""
        document = self.documents.get(uri)
        if document is not None:
            self._analyse(document, proves=True, spec=spec, props=(name,))

    async def explain(self, uri: str, spec: str, name: str) -> str:
        """Prove one property and explain the verdict, in a text that is shown."""
        document = self.documents.get(uri)
        task = document and self._analyse(document, proves=True, explains=True, spec=spec, props=(name,))
        if not task:
            return ""
        try:
            lines = await task
        except asyncio.CancelledError:
            return ""  # the text has changed
        return self._show_text(f"{name} explained", lines)

    def trace(self, uri: str, spec: str, name: str) -> str:
        """Show the run of a property that has one."""
        document = self.documents.get(uri)
        verdict = document and document.known.verdicts.get((spec, name))
        return self._show_text(f"{name} trace", verdict["lines"]) if verdict else ""

    def _show_text(self, title: str, lines: Sequence[str]) -> str:
        """Let the client show it as a file, if it can show files. Returns the text."""
        text = "\n".join(lines) + "\n" if lines else ""
        window = self.protocol.client_capabilities.window
        if text and window is not None and window.show_document is not None and window.show_document.support:
            self.texts = self.texts or tempfile.TemporaryDirectory(prefix="streamcheck-")
            stem = "".join(c if c.isalnum() else "_" for c in title)
            path = os.path.join(self.texts.name, f"{stem}.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.protocol.window_show_document(lsp.ShowDocumentParams(uri_of(path), take_focus=True))
        return text

    # The protocol

    def _add_features(self) -> None:
        features: dict[str, Callable[..., Any]] = {
            lsp.TEXT_DOCUMENT_DID_OPEN: self.open_text,
            lsp.TEXT_DOCUMENT_DID_CHANGE: self.change_text,
            lsp.TEXT_DOCUMENT_DID_SAVE: self.save_text,
            lsp.TEXT_DOCUMENT_DID_CLOSE: self.close_text,
            lsp.TEXT_DOCUMENT_CODE_LENS: self.lenses,
            lsp.TEXT_DOCUMENT_INLAY_HINT: self.hints,
            lsp.TEXT_DOCUMENT_HOVER: self.hover,
            lsp.TEXT_DOCUMENT_DEFINITION: self.definition,
            lsp.SHUTDOWN: self.shut_down,
        }
        for name, handler in features.items():
            self.protocol.feature(name)(_function(handler))
        commands: dict[str, Callable[..., Any]] = {PROVE: self.prove, EXPLAIN: self.explain, TRACE: self.trace}
        for name, command in commands.items():
            self.protocol.command(name)(_function(command))

    async def serve(self) -> int:
        """Answer the client until it ends the connection, or a signal does. Returns the exit status."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=LONGEST)  # and no thread, for which the end would have to wait
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        protocol = self.protocol.protocol
        protocol.set_writer(StdoutWriter(_own_output()))
        talk = asyncio.ensure_future(
            run_async(threading.Event(), reader, protocol, error_handler=self.protocol.report_server_error)
        )
        status = 0

        def stop(number: int) -> None:
            nonlocal status
            status = number
            talk.cancel()

        for number, (_, wanted) in SIGNALS.items():
            loop.add_signal_handler(number, stop, wanted)
        try:
            with contextlib.suppress(asyncio.CancelledError, BrokenPipeError, asyncio.IncompleteReadError):
                await talk
        finally:
            await self.shut_down()
            transport.close()
            if self.texts is not None:
                self.texts.cleanup()
        return status


def _own_output() -> BinaryIO:
    """Standard output for the protocol alone: what else is written there goes to standard error from now on."""
    sys.stdout.flush()
    file = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return file


def _function(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method as a function, which pygls can mark."""
    if inspect.iscoroutinefunction(method):

        async def call_later(*arguments: Any) -> Any:
            return await method(*arguments)

        return call_later

    def call(*arguments: Any) -> Any:
        return method(*arguments)

    return call


def serve(timeout: float, jobs: int | None) -> int:
    """Serve until the end. Returns the exit status."""
    try:
        return asyncio.run(SpecServer(timeout, jobs).serve())
    except SystemExit as end:  # of the protocol: 0 after a shutdown
        return end.code if isinstance(end.code, int) else 1
