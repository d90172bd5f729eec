"""A folder of evidence for verdicts, kept from run to run. Nothing that is read from it is believed.

    claim-FINGERPRINT.json    the verdict on a claim, with a run, or with the name of its certificate
    proof-DIGEST.json         a certificate, which several claims may share

A file is written whole, under another name first, so any number of processes may use the folder at once. A file that
cannot be read is as good as none; a folder that cannot be written stays as it is. When the files take more than
`MOST_BYTES`, the least recently used go.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from streamcheck.core.files import write_whole

FOLDER = ".streamcheck"
MOST_BYTES = 64_000_000
LARGEST = 16_000_000  # bytes of a file that is read
MOST_HELD = 1000  # certificates in memory
LOG = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Cache:
    """One folder. `shortest` are claims whose kept violation this process has seen to be the shortest."""

    folder: str = FOLDER
    shortest: set[str] = field(default_factory=set)
    _proofs: dict[str, Any] = field(default_factory=dict)  # that were read, by digest

    def claim(self, fingerprint: str) -> dict[str, Any] | None:
        row = self._read(f"claim-{fingerprint}.json")
        return row if isinstance(row, dict) else None

    def proof(self, digest: str) -> Any:
        if not digest.isalnum():  # a name, and no path
            return None
        if digest not in self._proofs:
            self._hold(digest, self._read(f"proof-{digest}.json"))
        return self._proofs[digest]

    def add_claim(self, fingerprint: str, row: dict[str, Any]) -> None:
        self._write(f"claim-{fingerprint}.json", json.dumps(row))

    def add_proof(self, row: dict[str, Any]) -> str:
        """The digest under which the certificate is kept."""
        text = json.dumps(row)
        digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        if self._proofs.get(digest) != row:  # new, or damaged in its file
            self._hold(digest, row)
            self._write(f"proof-{digest}.json", text)
        return digest

    def _hold(self, digest: str, row: Any) -> None:
        """Hold it in memory, in the place of the first if there are many: `watch` goes on for days."""
        while len(self._proofs) >= MOST_HELD and digest not in self._proofs:
            del self._proofs[next(iter(self._proofs))]
        self._proofs[digest] = row

    def trim(self) -> None:
        """Remove the files that were not used for longest, if all together are too large."""
        with suppress(OSError):
            files = [(e.stat(), e.path) for e in os.scandir(self.folder) if e.name.endswith((".json", ".part"))]
            excess = sum(stat.st_size for stat, _ in files) - MOST_BYTES
            for stat, path in sorted(files, key=lambda row: row[0].st_mtime) if excess > 0 else ():
                if excess <= -MOST_BYTES // 2:
                    break
                os.remove(path)
                excess -= stat.st_size

    def _read(self, name: str) -> Any:
        path = os.path.join(self.folder, name)
        try:
            if os.path.getsize(path) > LARGEST:
                return None
            with open(path, encoding="utf-8") as file:
                row = json.load(file)
        except (OSError, ValueError, RecursionError) as why:
            if not isinstance(why, FileNotFoundError):
                LOG.info("%s cannot be read: %s", path, why)
            return None
        with suppress(OSError):
            os.utime(path)  # it was used
        return row

    def _write(self, name: str, text: str) -> None:
        path = os.path.join(self.folder, name)
        try:
            if not os.path.isdir(self.folder):
                os.makedirs(self.folder)
                with open(os.path.join(self.folder, ".gitignore"), "w", encoding="utf-8") as file:
                    file.write("*\n")
            write_whole({path: text})
        except OSError as why:
            LOG.info("%s cannot be written: %s", path, why)
