// Modules of Node.js that the image lacks: small ones that work, and objects that refuse to be used in place of those
// that need a system.

const { performance } = globalThis;
const node = globalThis[Symbol.for('lathe.node')];

/** A member of a module that needs a system. It can be read, and extended by a class. */
function refusing(name) {
  function refused() {
    throw new Error(`${name} is not available in a tool`);
  }
  return new Proxy(refused, { get: (target, key) => key in target || typeof key === 'symbol' ? target[key] : member(name, key) });
}

function member(name, key) {
  // A value with a method `then` would be taken for a promise, and one with `__esModule` for a compiled module.
  return typeof key === 'symbol' || key === 'then' || key === '__esModule' ? undefined : refusing(`${name}.${key}`);
}

/** A module whose members refuse. Its prototype has them, so that imports by name find each of them. */
const absent = (name) => Object.create(new Proxy({}, { get: (target, key) => member(name, key) }));

const after = (work, ...values) => setTimeout(work, 0, ...values);
const timers = { clearImmediate: clearTimeout, clearInterval, clearTimeout, setImmediate: after, setInterval, setTimeout };
const later = (milliseconds, value) => new Promise((resolve) => setTimeout(resolve, milliseconds, value));

/** A channel without subscribers. */
const channel = (name) => ({ name, hasSubscribers: false, publish() {}, subscribe() {}, unsubscribe: () => false });

const small = {
  console,
  diagnostics_channel: { channel, hasSubscribers: () => false, subscribe() {}, unsubscribe: () => false },
  module: { createRequire: () => require },
  os: {
    EOL: '\n',
    arch: () => 'wasm32',
    availableParallelism: () => 1,
    cpus: () => [],
    homedir: () => '/',
    hostname: () => 'localhost',
    platform: () => 'browser',
    release: () => '',
    tmpdir: () => '/tmp',
    type: () => '',
  },
  perf_hooks: { performance },
  process: globalThis.process,
  'stream/web': globalThis,
  timers,
  'timers/promises': { setImmediate: (value) => later(0, value), setTimeout: later },
  tty: { isatty: () => false },
  'util/types': node('util').types,
};

module.exports = (name) => small[name] ?? absent(name);
