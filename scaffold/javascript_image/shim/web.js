// Web APIs that the engine lacks or implements differently from the standards.

import { after } from './loop.js';

AbortSignal.timeout = (milliseconds) => {
  const controller = new AbortController();
  after(milliseconds, () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError')));
  return controller.signal;
};

// The engine's function requires a reason.
AbortSignal.abort = (reason = new DOMException('The operation was aborted.', 'AbortError')) => {
  const controller = new AbortController();
  controller.abort(reason);
  return controller.signal;
};

// The engine's function throws a second time when the run ends, which stops the interpreter.
AbortSignal.prototype.throwIfAborted = function throwIfAborted() {
  if (this.aborted) throw this.reason;
};

for (const { prototype } of [Request, Response, Blob]) {
  prototype.bytes ??= async function bytes() {
    return new Uint8Array(await this.arrayBuffer());
  };
}
