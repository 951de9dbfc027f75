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

// The engine's signal has a wrong reason.
AbortSignal.any = (signals) => {
  const all = Array.from(signals);
  const controller = new AbortController();
  const first = all.find((signal) => signal.aborted);
  if (first) controller.abort(first.reason);
  else for (const signal of all) signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
};

const method = (prototype, name, value) => Object.defineProperty(prototype, name, { value, writable: true, configurable: true });

ReadableStream.prototype.values ??= async function* values({ preventCancel = false } = {}) {
  const reader = this.getReader();
  let isOver = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isOver = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isOver && !preventCancel) await reader.cancel();
    reader.releaseLock();
  }
};
method(ReadableStream.prototype, Symbol.asyncIterator, ReadableStream.prototype.values);

URL.parse ??= (url, base) => {
  try {
    return new URL(url, base);
  } catch {
    return null;
  }
};
URL.canParse ??= (url, base) => URL.parse(url, base) !== null;

globalThis.TextDecoderStream ??= class TextDecoderStream {
  constructor(label, options) {
    const decoder = new TextDecoder(label, options);
    const { readable, writable } = new TransformStream({
      transform(chunk, to) { enqueue(to, decoder.decode(chunk, { stream: true })); },
      flush(to) { enqueue(to, decoder.decode()); },
    });
    Object.assign(this, { encoding: decoder.encoding, readable, writable });
  }
};
globalThis.TextEncoderStream ??= class TextEncoderStream {
  constructor() {
    const encoder = new TextEncoder();
    const { readable, writable } = new TransformStream({ transform(chunk, to) { to.enqueue(encoder.encode(chunk)); } });
    Object.assign(this, { encoding: 'utf-8', readable, writable });
  }
};
function enqueue(to, text) {
  if (text !== '') to.enqueue(text);
}

const immediate = (work, ...values) => setTimeout(work, 0, ...values);
for (const [name, value] of Object.entries({ setImmediate: immediate, clearImmediate: clearTimeout, global: globalThis })) {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
