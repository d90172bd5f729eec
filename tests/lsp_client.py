"""A client of the language server: messages over the pipes of a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import uuid
from pathlib import Path

COMMAND = Path(sys.executable).parent / "streamcheck"
LONGEST = 300.0  # seconds of a session
CAPABILITIES = {
    "workspace": {"codeLens": {"refreshSupport": True}, "inlayHint": {"refreshSupport": True}},
    "window": {"showDocument": {"support": True}},
}


class Client:
    """One session. `mark` is in the environment of every process that belongs to it."""

    def __init__(self, folder, *options):
        self.mark = f"STREAMCHECK_SESSION={uuid.uuid4().hex}"
        name, _, value = self.mark.partition("=")
        environment = {**os.environ, name: value, "PYTHONWARNINGS": "error::ResourceWarning"}
        environment.pop("STREAMCHECK_NO_CACHE", None)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [COMMAND, "lsp", *options], stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=environment
        )
        self.end = threading.Timer(LONGEST, self.process.kill)  # a test that waits for ever fails instead
        self.end.daemon = True
        self.end.start()
        self.folder, self.number, self.versions = folder, 0, {}
        self.diagnostics, self.shown, self.heard = {}, [], []  # by file; files to show; methods
        root = folder.as_uri()
        self.capabilities = self.ask("initialize", processId=None, rootUri=root, capabilities=CAPABILITIES)
        self.tell("initialized")

    def send(self, **message):
        data = json.dumps({"jsonrpc": "2.0"} | message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.send(method=method, params=params)

    def ask(self, method, /, **params):
        """The answer to a request; what comes before it is taken in."""
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            message = self.read()
            if message.get("id") == self.number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def read(self):
        """The next message; a request of the server is answered."""
        length = 0
        while (line := self.process.stdout.readline()).strip():
            length = int(line.split(b":")[1]) if line.lower().startswith(b"content-length") else length
        assert length, f"the server has ended: {self.process.stderr.read().decode()}"
        message = json.loads(self.process.stdout.read(length))
        method, params = message.get("method"), message.get("params")
        self.heard.append(method)
        if method == "textDocument/publishDiagnostics":
            self.diagnostics[params["uri"].rpartition("/")[2]] = params["diagnostics"]
        elif method == "window/showDocument":
            self.shown.append(params["uri"])
        if method and "id" in message:
            self.send(id=message["id"], result={"success": True} if method == "window/showDocument" else None)
        return message

    def wait(self, condition):
        """Read until it holds."""
        while not condition():
            self.read()

    # What an editor does

    def uri(self, name):
        return (self.folder / name).as_uri()

    def open(self, name):
        text = (self.folder / name).read_text()
        self.versions[name] = 1
        document = {"uri": self.uri(name), "languageId": "any", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)
        return text

    def change(self, name, text):
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def save(self, name):
        self.tell("textDocument/didSave", textDocument={"uri": self.uri(name)})

    def at(self, method, name, line, character):
        document, position = {"uri": self.uri(name)}, {"line": line, "character": character}
        return self.ask(f"textDocument/{method}", textDocument=document, position=position)

    def lenses(self, name):
        rows = self.ask("textDocument/codeLens", textDocument={"uri": self.uri(name)})
        return {(row["range"]["start"]["line"], row["command"]["title"]): row["command"] for row in rows}

    def hints(self, name):
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 10_000, "character": 0}}
        rows = self.ask("textDocument/inlayHint", textDocument={"uri": self.uri(name)}, range=whole)
        return {row["position"]["line"]: row["label"] for row in rows}

    def execute(self, command):
        return self.ask("workspace/executeCommand", command=command["command"], arguments=command["arguments"])

    # The end

    def processes(self):
        """The processes of the session that are alive, the server too."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z" and self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def close(self):
        """End the session as an editor does. Returns the exit status."""
        self.ask("shutdown")
        self.tell("exit")
        status = self.process.wait()
        self.tidy()
        return status

    def tidy(self):
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def kill(self):
        """For a test that failed."""
        self.end.cancel()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
