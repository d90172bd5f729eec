// Starts `streamcheck lsp` and shows what it finds. Everything else is in the server.
"use strict";

const path = require("node:path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["python", "c", "lustre", "automaton"];

let client;

function create() {
  const settings = vscode.workspace.getConfiguration("streamcheck");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const command = settings.get("command");
  const inFolder = folder !== undefined && command.includes("/") && !path.isAbsolute(command);
  const server = {
    command: inFolder ? path.join(folder, command) : command,
    args: ["lsp", ...settings.get("arguments")],
    options: { cwd: folder },
  };
  const documentSelector = LANGUAGES.map((language) => ({ scheme: "file", language }));
  return new LanguageClient("streamcheck", "streamcheck", server, { documentSelector });
}

async function start() {
  client = create();
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`streamcheck lsp does not start (${error}). Is streamcheck[lsp] installed?`);
  }
}

async function stop() {
  const ended = client;
  client = undefined;
  if (ended?.isRunning()) {
    await ended.stop();
  }
}

async function activate(context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(vscode.commands.registerCommand("streamcheck.restart", restart));
  await start();
}

module.exports = { activate, deactivate: stop };
