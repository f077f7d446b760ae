// Starts `ptxcheck lsp` for PTX and CUDA documents.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SETTINGS_OF_THE_SERVER = [
  "ptxcheck.command",
  "ptxcheck.verify",
  "ptxcheck.launch",
  "ptxcheck.assume",
  "ptxcheck.tensorMap",
  "ptxcheck.rulePages",
];

let client;

function makeClient() {
  const settings = vscode.workspace.getConfiguration("ptxcheck");
  const [command, ...args] = settings.get("command");
  return new LanguageClient(
    "ptxcheck",
    "ptxcheck",
    { command, args },
    {
      documentSelector: [{ language: "ptx" }, { language: "cuda-cpp" }],
      initializationOptions: {
        verify: settings.get("verify"),
        launch: settings.get("launch"),
        assume: settings.get("assume"),
        tensorMap: settings.get("tensorMap"),
        rulePages: settings.get("rulePages"),
      },
    },
  );
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `ptxcheck cannot be started (${error.message}). Install it with: pip install 'ptxcheck[lsp]', ` +
        "or name it in the setting ptxcheck.command.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running?.isRunning()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("ptxcheck.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) =>
      SETTINGS_OF_THE_SERVER.some((name) => event.affectsConfiguration(name)) ? restart() : undefined,
    ),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
