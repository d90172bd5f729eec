"""The process of one analysis, from the server's side: its answers as they come, and its end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from typing import Any

from streamcheck.lsp.analysis import Job

COMMAND = [sys.executable, "-P", "-m", "streamcheck.lsp.analysis"]  # -P: no module of the user's folder
LONGEST = 1 << 26  # bytes of an answer
PATIENCE = 3.0  # seconds for an analysis to end with all that it has started
EVERY = 0.02


async def answers(job: Job, folder: str) -> AsyncGenerator[list[dict[str, Any]], None]:
    """The rows of the analysis, which runs in the folder: those that are there at each time, together. It ends with
    this generator, however that ends."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, cwd=folder)
    assert process.stdin is not None and process.stdout is not None
    reader = asyncio.StreamReader(limit=LONGEST)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
    try:
        await _send(process, job.line())
        begun = b""
        while data := await reader.read(LONGEST):
            *lines, begun = (begun + data).split(b"\n")
            yield [json.loads(line) for line in lines]
        if await _status(process) != 0:
            yield [{"kind": "mistake", "text": "the analysis ended without an answer", "file": None, "line": None}]
    finally:
        transport.close()
        await _end(process)


async def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    """Write to its standard input, without waiting here if it reads late, and close that."""
    assert process.stdin is not None
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, process.stdin)
    writer = asyncio.StreamWriter(transport, protocol, None, loop)
    with contextlib.suppress(ConnectionError):
        writer.write(data)
        await writer.drain()
    writer.close()


async def _status(process: subprocess.Popen[bytes]) -> int:
    while (status := process.poll()) is None:
        await asyncio.sleep(EVERY)
    return status


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask it to end, which it does with all that it has started; kill it if it does not."""
    if process.poll() is None:
        process.terminate()
        try:
            await asyncio.wait_for(_status(process), PATIENCE)
        except TimeoutError:
            process.kill()
            process.wait()
