// Makes a bundle of esbuild's output, and checks its exports.

import { dumps, evaluate } from './bundle.js';
import { authorsPlace, describe, syntaxPlace } from './errors.js';
import { schemaText } from './schema.js';

const PACKAGES = 'node_modules/';
const SCRIPT_FILE = 'bundle.js';
const MAP_FILE = 'bundle.js.map';

const SHAPE = 'export async function runTool({ toolInput, metadata, config, conversation, sendStatusEvent, userVariables })';

class CheckFailed extends Error {
  constructor(check, message, { file, line } = {}) {
    super(message);
    Object.assign(this, { check, file, line });
  }
}

/** Returns the bytes of the bundle. Does not run the author's code. */
export function compileProject({ files }) {
  const contents = (path) => files.find((file) => file.path === path)?.contents ?? new Uint8Array();
  return dumps(contents(SCRIPT_FILE), contents(MAP_FILE));
}

/**
 * Evaluates the bundle and checks its exports. Returns the input schema if `deriveSchema` is set.
 *
 * The author's code runs here, but the bundle is already made: the code cannot change what is published.
 */
export function checkBundle(bundle, deriveSchema) {
  const { runTool, inputSchema } = evaluated(bundle);
  if (typeof runTool !== 'function') {
    const what = runTool === undefined
      ? 'exports no runTool'
      : `exports \`runTool\` as ${typeof runTool}, but it must be a function`;
    throw new CheckFailed('entry-point', `the entry point ${what}: write \`${SHAPE}\``);
  }
  if (runTool.length > 1) {
    const message = `runTool must take one object, not ${runTool.length} parameters: write \`${SHAPE}\``;
    throw new CheckFailed('entry-point-signature', message);
  }
  return deriveSchema ? schema(inputSchema) : undefined;
}

function evaluated(bundle) {
  try {
    return evaluate(bundle);
  } catch (error) {
    const { kind, message } = describe(error);
    const { file, line } = syntaxPlace(error) ?? {};
    if (file?.startsWith(PACKAGES)) {
      const place = `${file.slice(PACKAGES.length)}:${line}`;
      throw new CheckFailed('import', `${place}: ${kind}: ${message}`, authorsPlace(error));
    }
    throw new CheckFailed('import', `${kind}: ${message}`, file ? { file, line } : authorsPlace(error));
  }
}

function schema(inputSchema) {
  try {
    return schemaText(inputSchema);
  } catch (error) {
    const { kind, message } = describe(error);
    throw new CheckFailed('input-schema', `${kind}: ${message}`, authorsPlace(error));
  }
}
