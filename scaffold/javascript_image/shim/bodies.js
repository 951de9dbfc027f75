// What the engine's requests and responses lack, or do otherwise than the Fetch standard.

/** Replaces a constructor by one that remembers the arguments of each object. */
function remembered(name, remember, prepare = (list) => list) {
  const native = globalThis[name];
  const known = new WeakMap();
  const replaced = new Proxy(native, {
    construct(target, given, self) {
      const list = prepare(given);
      const made = Reflect.construct(target, list, self);
      known.set(made, remember(list, known, made));
      return made;
    },
  });
  Object.defineProperty(globalThis, name, { value: replaced, writable: true, configurable: true });
  native.prototype.constructor = replaced;
  return known;
}

const method = (prototype, name, value) => Object.defineProperty(prototype, name, { value, writable: true, configurable: true });

for (const { prototype } of [Request, Response, Blob]) {
  // The engine throws for bytes that are not UTF-8.
  method(prototype, 'text', async function text() {
    return new TextDecoder().decode(await this.arrayBuffer());
  });
}
for (const { prototype } of [Request, Response]) {
  method(prototype, 'json', async function json() {
    return JSON.parse(await this.text());
  });
  method(prototype, 'blob', async function blob() {
    return new Blob([await this.arrayBuffer()], { type: this.headers.get('content-type') ?? '' });
  });
}

// A body that is not a stream can be used again.
const bodies = remembered('Response', ([body]) => body);
method(Response.prototype, 'clone', function clone() {
  const body = bodies.get(this);
  if (this.bodyUsed) throw new TypeError('the body has already been read');
  if (body instanceof ReadableStream) throw new TypeError('a response with a stream cannot be cloned in a tool: read it once, and make responses of its bytes');
  return new Response(body, { status: this.status, statusText: this.statusText, headers: this.headers });
});
method(Response, 'error', () => {
  const made = new Response(null);
  return Object.defineProperties(made, { type: { value: 'error' }, status: { value: 0 }, ok: { value: false } });
});

// The engine does not keep these fields.
const FIELDS = {
  redirect: 'follow', cache: 'default', mode: 'cors', credentials: 'same-origin', integrity: '', keepalive: false,
  referrer: 'about:client', referrerPolicy: '', destination: '',
};
const fields = remembered('Request', ([input, init], known, made) => {
  // The engine drops headers that a browser sets. The host refuses them with a message.
  const dropped = init?.headers && [...new Headers(init.headers)].filter(([name]) => !made.headers.has(name));
  return { ...FIELDS, dropped: [], ...known.get(input), ...chosen(init), ...(dropped && { dropped }) };
}, readOnce);
/** Reads headers that can be read only once, such as those of a generator, into a list. */
function readOnce([input, init]) {
  const isOnce = typeof init?.headers?.next === 'function';
  return [input, isOnce ? Object.create(init, { headers: { value: [...init.headers] } }) : init];
}
function chosen(init) {
  return Object.fromEntries(Object.keys(FIELDS).filter((name) => init?.[name] !== undefined).map((name) => [name, init[name]]));
}
/** The headers of a request that the engine dropped. */
export const droppedHeaders = (request) => fields.get(request).dropped;
for (const name of Object.keys(FIELDS)) {
  Object.defineProperty(Request.prototype, name, { get() { return (fields.get(this) ?? FIELDS)[name]; }, configurable: true });
}
