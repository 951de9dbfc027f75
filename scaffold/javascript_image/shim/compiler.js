// From what esbuild made to a bundle, and the checks of what it exports.

import { dumps, evaluate } from './bundle.js';
import { authorsPlace, describe } from './errors.js';
import { schemaText } from './schema.js';

const SCRIPT_FILE = 'bundle.js';
const MAP_FILE = 'bundle.js.map';

const SHAPE = 'export async function runTool({ toolInput, metadata, config, conversation, sendStatusEvent, userVariables })';

class CheckFailed extends Error {
  constructor(check, message, { file, line } = {}) {
    super(message);
    Object.assign(this, { check, file, line });
  }
}

/** Returns the bundle's bytes. None of the author's code runs here. */
export function compileProject({ files }) {
  const contents = (path) => files.find((file) => file.path === path)?.contents ?? new Uint8Array();
  return dumps(contents(SCRIPT_FILE), contents(MAP_FILE));
}

/**
 * Evaluates the bundle and checks what it exports; returns the input's schema when asked for it.
 *
 * The author's code runs here, after the bundle was made: it cannot change what is published.
 */
export function checkBundle(bundle, deriveSchema) {
  const { runTool, inputSchema } = evaluated(bundle);
  if (typeof runTool !== 'function') {
    const what = runTool === undefined ? 'exports no runTool' : `exports a runTool that is ${typeof runTool}, no function`;
    throw new CheckFailed('entry-point', `the entry point ${what}: it needs \`${SHAPE}\``);
  }
  if (runTool.length > 1) {
    const message = `runTool takes one object with everything in it, not ${runTool.length} parameters: \`${SHAPE}\``;
    throw new CheckFailed('entry-point-signature', message);
  }
  return deriveSchema ? schema(inputSchema) : undefined;
}

function evaluated(bundle) {
  try {
    return evaluate(bundle);
  } catch (error) {
    const { kind, message } = describe(error);
    throw new CheckFailed('import', `${kind}: ${message}`, authorsPlace(error));
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
