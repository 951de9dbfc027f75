// Modules of Node.js that need no system. The builder replaces imports of them by calls of this function.

import modules from '../generated/node.js';

Object.defineProperty(globalThis, Symbol.for('lathe.node'), { value: (name) => modules[name] });
Object.defineProperty(globalThis, 'Buffer', { value: modules.buffer.Buffer, writable: true, configurable: true });
