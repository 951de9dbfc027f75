// `fetch` through the host. Bodies are not streamed.

import { droppedHeaders } from './bodies.js';
import { decoded } from './encodings.js';
import { answered, connectLoop, forget } from './loop.js';
import { reasonOf } from './reasons.js';

/** Maximum size of URL, headers and body of a request. The host would stop the run for a larger one. */
const REQUEST_MAX = 2 << 20;

/** The limit of browsers. */
const REDIRECTS_MAX = 20;

/** Status codes of responses without a body. */
const BODILESS = [204, 205, 304];

/** Codes of requests that were sent and failed. Requests with other codes were refused by the host. */
const FAILED = ['timeout', 'unreachable', 'tls', 'protocol'];

let host;

/** The host refused the request or its response. `code` is the reason. */
export class EgressRefused extends TypeError {
  name = 'EgressRefused';

  constructor(message, code = 'denied') {
    super(message);
    this.code = code;
  }
}

export function connect(http) {
  host = http;
  connectLoop(http);
}

globalThis.fetch = async function fetch(input, init) {
  const signal = init?.signal ?? input?.signal;
  const mode = init?.redirect ?? input?.redirect ?? 'follow';
  const request = new Request(input, init);
  const headers = [...request.headers, ...droppedHeaders(request)];
  const chooses = headers.some(([name]) => name.toLowerCase() === 'accept-encoding');
  if (!chooses) headers.push(['accept-encoding', 'gzip, deflate']);
  let message = {
    method: request.method,
    url: withoutFragment(request.url),
    headers,
    body: new Uint8Array(await request.arrayBuffer()),
  };
  for (let redirects = 0; ; redirects++) {
    const answer = await exchange(message, signal);
    const next = mode === 'manual' ? null : redirected(message, answer);
    if (!next) return response(await decoded(answer, chooses), message, redirects > 0);
    if (mode === 'error') throw new TypeError(`${message.url} redirects, but \`redirect\` is \`error\``);
    if (redirects === REDIRECTS_MAX) throw new TypeError(`${message.url} redirects more than ${REDIRECTS_MAX} times`);
    message = next;
  }
};

function withoutFragment(url) {
  return String(url).replace(/#.*$/s, '');
}

async function exchange(message, signal) {
  if (signal?.aborted) throw signal.reason;
  const size = message.body.length + message.url.length + message.headers.join('').length;
  if (size > REQUEST_MAX) {
    throw new EgressRefused(`the request has ${size} bytes; the limit is ${REQUEST_MAX}`, 'request_too_large');
  }
  const number = host.start(message);
  let abort;
  const aborted = new Promise((_, reject) => {
    abort = () => reject(signal.reason);
    signal?.addEventListener('abort', abort);
  });
  try {
    await Promise.race([answered(number), aborted]);
  } catch (error) {
    forget(number);
    host.cancel(number);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  try {
    return host.finish(number);
  } catch (error) {
    throw raised(error.payload);
  }
}

function raised({ code, message }) {
  const name = code.replaceAll('-', '_');
  if (!FAILED.includes(name)) return new EgressRefused(message, name);
  return Object.assign(new TypeError(message), { code: name });
}

/** Returns the next request of a redirect; `null` for other responses. */
function redirected({ method, url, headers, body }, { status, headers: fields }) {
  const target = fields.find(([name]) => name.toLowerCase() === 'location')?.[1];
  if (![301, 302, 303, 307, 308].includes(status) || target === undefined) return null;
  const next = new URL(target, url);
  const becomesGet = status === 303 ? !['GET', 'HEAD'].includes(method) : status < 303 && method === 'POST';
  const elsewhere = next.origin !== new URL(url).origin;
  const dropped = [
    ...(becomesGet ? ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location'] : []),
    ...(elsewhere ? ['authorization', 'cookie', 'proxy-authorization', 'host'] : []),
  ];
  return {
    method: becomesGet ? 'GET' : method,
    url: withoutFragment(next.href),
    headers: headers.filter(([name]) => !dropped.includes(name.toLowerCase())),
    body: becomesGet ? new Uint8Array() : body,
  };
}

/** Adds what the engine's constructor does not set. The whole body is in memory. */
function response(answer, { method, url }, wasRedirected) {
  const { status, headers, body } = answer;
  const isBodiless = method === 'HEAD' || BODILESS.includes(status);
  const made = new Response(isBodiless ? null : body, { status, statusText: reasonOf(status), headers: new Headers(headers) });
  // The engine adds the length of the body, which may have been decoded.
  if (!headers.some(([name]) => name.toLowerCase() === 'content-length')) made.headers.delete('content-length');
  const clone = () => {
    if (made.bodyUsed) throw new TypeError('the body has already been read');
    return response(answer, { method, url }, wasRedirected);
  };
  const fixed = { type: 'basic', url, redirected: wasRedirected, clone };
  return Object.defineProperties(made, Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, { value }])));
}
