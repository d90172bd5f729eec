"""The extension for Visual Studio Code: its manifest and its code agree with the server, and it starts it.

`editors/vscode/check` lints and packages it, with npm's registry at hand.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import streamcheck

FOLDER = Path("editors/vscode")
MANIFEST = json.loads((FOLDER / "package.json").read_text())
CODE = (FOLDER / "extension.js").read_text()
node = pytest.mark.skipif(shutil.which("node") is None, reason="no node on this machine")

# Stands in for the editor and the client library: it records what the extension does with them.
STUB = """
const Module = require("node:module");
const seen = [], commands = {}, settings = {command: ".venv/bin/streamcheck", arguments: ["--timeout", "20"]};
const stubs = {
  vscode: {
    workspace: {
      getConfiguration: (name) => ({ get: (key) => { seen.push(`setting ${name}.${key}`); return settings[key]; } }),
      workspaceFolders: [{ uri: { fsPath: "/w" } }],
    },
    window: { showErrorMessage: (text) => seen.push(`error ${text}`) },
    commands: { registerCommand: (name, run) => { commands[name] = run; return {}; } },
  },
  "vscode-languageclient/node": {
    LanguageClient: class {
      constructor(id, name, server, options) { this.parts = { server, options }; }
      async start() { seen.push(this.parts); if (settings.command === "/missing") throw new Error("ENOENT"); }
      isRunning() { return true; }
      async stop() { seen.push("stop"); }
    },
  },
};
const load = Module._load;
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
const extension = require(process.argv[2]);
(async () => {
  const context = { subscriptions: [] };
  await extension.activate(context);
  settings.command = "streamcheck";
  await commands["streamcheck.restart"]();
  await extension.deactivate();
  settings.command = "/missing";
  await extension.activate(context);
  console.log(JSON.stringify({ seen, commands: Object.keys(commands) }));
})();
"""


def test_the_manifest_agrees_with_the_code():
    assert MANIFEST["version"] == streamcheck.__version__ and MANIFEST["main"] == "./extension.js"
    languages = json.loads(re.search(r"LANGUAGES = (\[.*\]);", CODE)[1])
    assert [f"onLanguage:{language}" for language in languages] == MANIFEST["activationEvents"]
    contributed = {row["command"] for row in MANIFEST["contributes"]["commands"]}
    assert contributed == set(re.findall(r'registerCommand\("([^"]+)"', CODE))
    settings = {f"streamcheck.{key}" for key in re.findall(r'settings\.get\("(\w+)"\)', CODE)}
    assert settings == set(MANIFEST["contributes"]["configuration"]["properties"])
    assert set(re.findall(r'require\("([^."/:]+)', CODE)) - {"node", "vscode"} == set(MANIFEST["dependencies"])
    assert (FOLDER / "LICENSE.md").read_text() == Path("LICENSE").read_text()


def test_the_manifest_agrees_with_the_server():
    """The client library makes a command of each that the server has: one of the same name would be there twice."""
    pytest.importorskip("pygls", reason="the language server needs the extra streamcheck[lsp]")
    from streamcheck.lsp.documents import KINDS
    from streamcheck.lsp.shown import EXPLAIN, PROVE, TRACE

    assert {PROVE, EXPLAIN, TRACE}.isdisjoint(row["command"] for row in MANIFEST["contributes"]["commands"])
    known_to_editors = {".py", ".c", ".i"}
    extensions = {kind for row in MANIFEST["contributes"]["languages"] for kind in row["extensions"]}
    assert extensions | known_to_editors == set(KINDS)


@node
def test_it_starts_and_restarts_the_server(tmp_path):
    subprocess.run(["node", "--check", FOLDER / "extension.js"], check=True)
    (tmp_path / "stub.js").write_text(STUB)
    command = ["node", tmp_path / "stub.js", (FOLDER / "extension.js").resolve()]
    done = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    first, second, third = (row for row in done["seen"] if isinstance(row, dict))
    assert first["server"] == {
        "command": "/w/.venv/bin/streamcheck",
        "args": ["lsp", "--timeout", "20"],
        "options": {"cwd": "/w"},
    }
    assert {row["language"] for row in first["options"]["documentSelector"]} == {"python", "c", "lustre", "automaton"}
    assert second["server"]["command"] == "streamcheck" and third["server"]["command"] == "/missing"
    assert done["seen"].count("stop") == 2 and done["commands"] == ["streamcheck.restart"]
    assert "Is streamcheck[lsp] installed?" in done["seen"][-1]
