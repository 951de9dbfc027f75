// Runs a sample tool while the image is built, so that the functions of a run are already compiled.

import { checkBundle, compileProject } from './compiler.js';
import { describe } from './errors.js';
import { run } from './run.js';

const SCRIPT = 'exports.runTool = async function runTool({ toolInput, sendStatusEvent, content, log, interaction }) {' +
  ' sendStatusEvent("half", { progress: 1, total: 2 }); content.addText("a"); log("info", "a");' +
  ' await interaction.requestInput("a", { kind: "form", message: "a" });' +
  ' await undefined; return { of: toolInput }; };';
const MAP = '{"version":3,"sources":["index.js"],"mappings":"AAAA"}';

const CONTEXT = {
  toolInput: '{"name":"Ada"}',
  metadata: '{"invocation_id":"","deadline_ms":0}',
  config: '{"envvars":{},"secrets":{}}',
  conversation: 'null',
  userVariables: '{"nonsensitive":{},"sensitive":{}}',
};

export async function warm() {
  const bytes = (text) => new TextEncoder().encode(text);
  const files = [
    { path: 'bundle.js', contents: bytes(SCRIPT) },
    { path: 'bundle.js.map', contents: bytes(MAP) },
  ];
  const bundle = compileProject({ files });
  checkBundle(bundle, true);
  describe(new TypeError('none'));
  const tools = { start() {}, finish() {} };
  const requestInput = () => ['{"action":"cancel"}'];
  await run(bundle, CONTEXT, { add() {}, requestInput, send() {}, sendLog() {}, tools });
}
