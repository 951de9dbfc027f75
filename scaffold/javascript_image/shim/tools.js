// Calls of other tools of the organisation.

import { cancel } from 'lathe:tool/http@0.1.0';

import { jsonOf, wellFormed } from './json.js';
import { answered, forget } from './loop.js';

/** Characters of the arguments of a call. The host refuses as many bytes, and would stop the run for a much larger text. */
const ARGUMENTS_MAX = 256 << 10;

/** A call without an output. `code` is the reason, and `kind` the type of the exception that a failed tool threw. */
export class ToolCallError extends Error {
  name = 'ToolCallError';

  constructor(message, code, kind) {
    super(message);
    this.code = code;
    this.kind = kind;
  }
}

/** Returns the argument `callTool` of `runTool`. */
export function callToolOf({ start, finish }) {
  return async function callTool(name, input = {}, { signal } = {}) {
    if (typeof name !== 'string') throw new TypeError('callTool: name must be a string');
    if (signal?.aborted) throw signal.reason;
    wellFormed('callTool: name', name);
    const text = jsonOf(input, { root: 'input', refusal: 'callTool: the input cannot be sent' });
    if (text === undefined) throw new TypeError('callTool: the arguments must be a JSON object');
    if (name.length > ARGUMENTS_MAX || text.length > ARGUMENTS_MAX) {
      throw new ToolCallError(`the name or the arguments have more than ${ARGUMENTS_MAX} bytes`, 'invalid_arguments');
    }
    const call = start(name, text);
    await answer(call, signal);
    try {
      return finish(call);
    } catch (error) {
      const { code, kind, message } = error.payload;
      throw new ToolCallError(message, code.replaceAll('-', '_'), kind);
    }
  };
}

/** Waits for the end of a call, or cancels it. */
async function answer(call, signal) {
  let abort;
  const aborted = new Promise((_, reject) => {
    abort = () => reject(signal.reason);
    signal?.addEventListener('abort', abort);
  });
  try {
    await Promise.race([answered(call), aborted]);
  } catch (error) {
    forget(call);
    cancel(call);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}
