// One run: evaluates the bundle, builds the arguments, calls the entry point and serialises the result.

import { evaluate } from './bundle.js';
import { contentOf } from './content.js';
import { inputOf } from './input.js';
import { interactionOf } from './interaction.js';
import { jsonOf } from './json.js';
import { logOf } from './log.js';
import { settled } from './loop.js';
import { setEnvironment } from './process.js';
import { parsed } from './schema.js';
import { callToolOf } from './tools.js';

// Maximum characters of an output and of a status event; above the limits of the host, which are in bytes.
const OUTPUT_MAX = 1 << 20;
const EVENT_MAX = 1 << 16;

/** `runTool` returned nothing. */
class NoResult extends Error {
  name = 'NoResult';
}

/** `runTool` returned a value that JSON cannot represent. */
class UnserialisableResult extends TypeError {
  name = 'UnserialisableResult';
}

/** Runs one invocation with the functions of the host, and returns the output as a string. */
export async function run(bundle, context, host) {
  const config = JSON.parse(context.config);
  setEnvironment(config);
  const { runTool, inputSchema } = evaluate(bundle);
  const output = serialised(await settled(called(runTool, inputSchema, { ...context, config }, host)));
  // The host refuses the output by its length, for which the beginning is enough.
  return output.length <= OUTPUT_MAX ? output : output.slice(0, OUTPUT_MAX + 1);
}

async function called(runTool, inputSchema, context, host) {
  return runTool({
    toolInput: await parsed(inputSchema, inputOf(context.toolInput)),
    metadata: renamed(JSON.parse(context.metadata)),
    config: context.config,
    conversation: renamed(JSON.parse(context.conversation)),
    sendStatusEvent: sender(host.send),
    userVariables: JSON.parse(context.userVariables),
    content: contentOf(host.add),
    log: logOf(host.sendLog),
    callTool: callToolOf(host.tools),
    interaction: interactionOf(host.requestInput),
  });
}

/** Converts names to camel case: `invocation_id` is `invocationId` in JavaScript. */
function renamed(fields) {
  if (fields === null) return null;
  const camelCase = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelCase(name), value]));
}

function sender(send) {
  return function sendStatusEvent(message, { progress = null, total = null, data = null } = {}) {
    if (typeof message !== 'string') throw new TypeError('sendStatusEvent: message must be a string');
    const body = { message, progress: number('progress', progress), total: number('total', total), data };
    const event = jsonOf(body, { root: 'event', refusal: 'sendStatusEvent: the event cannot be sent' });
    try {
      send(event.slice(0, EVENT_MAX));
    } catch {
      // The host counts refused events. They do not fail the run.
    }
    return Promise.resolve();
  };
}

function number(name, value) {
  if (value !== null && !Number.isFinite(value)) throw new TypeError(`sendStatusEvent: ${name} must be a finite number`);
  return value;
}

/** Returns a string unchanged, and any other JSON value as compact JSON. */
function serialised(value) {
  if (value === undefined || value === null) {
    throw new NoResult('runTool returns nothing: return a string or a JSON value on every path');
  }
  const text = jsonOf(value, { root: 'result', refusal: 'the result cannot be returned', Refused: UnserialisableResult });
  return typeof value === 'string' ? value : text;
}
