// One run: bundle in, arguments made, entry point called, answer serialised.

import { evaluate } from './bundle.js';
import { settled } from './loop.js';
import { parsed } from './schema.js';

// Characters, beyond the bytes that the host reads.
const OUTPUT_MAX = 1 << 20;
const EVENT_MAX = 1 << 16;

/** `runTool` returned nothing. */
class NoResult extends Error {
  name = 'NoResult';
}

/** `runTool` returned something that JSON cannot hold. */
class UnserialisableResult extends TypeError {
  name = 'UnserialisableResult';
}

/** Runs one invocation and returns the output as a string. */
export async function run(bundle, context, send) {
  const { runTool, inputSchema } = evaluate(bundle);
  const output = serialised(await settled(called(runTool, inputSchema, context, send)));
  // The host refuses what is too large; it need not see all of it for that.
  return output.length <= OUTPUT_MAX ? output : output.slice(0, OUTPUT_MAX + 1);
}

async function called(runTool, inputSchema, context, send) {
  return runTool({
    toolInput: await parsed(inputSchema, JSON.parse(context.toolInput)),
    metadata: renamed(JSON.parse(context.metadata)),
    config: JSON.parse(context.config),
    conversation: renamed(JSON.parse(context.conversation)),
    sendStatusEvent: sender(send),
    userVariables: JSON.parse(context.userVariables),
  });
}

/** `invocation_id` is `invocationId` in JavaScript. */
function renamed(fields) {
  if (fields === null) return null;
  const camelCase = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [camelCase(name), value]));
}

function sender(send) {
  return function sendStatusEvent(message, { progress = null, total = null, data = null } = {}) {
    if (typeof message !== 'string') throw new TypeError('sendStatusEvent: message must be a string');
    const event = JSON.stringify({ message, progress: number('progress', progress), total: number('total', total), data });
    try {
      send(event.slice(0, EVENT_MAX));
    } catch {
      // The host counts what it refuses; it never fails a run.
    }
    return Promise.resolve();
  };
}

function number(name, value) {
  if (value !== null && !Number.isFinite(value)) throw new TypeError(`sendStatusEvent: ${name} must be a finite number`);
  return value;
}

/** A string as it is, any other JSON value as compact JSON. */
function serialised(value) {
  if (value === undefined || value === null) {
    throw new NoResult('runTool returns nothing: return a string or a JSON value on every path');
  }
  if (typeof value === 'string') return value;
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new UnserialisableResult(`the result cannot be returned: ${error.message}`);
  }
  if (text === undefined) throw new UnserialisableResult(`a ${typeof value} cannot be returned: JSON has none`);
  return text;
}
