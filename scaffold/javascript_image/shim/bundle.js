// The author's code as a bundle: the length of the script as 32 bits, the script, and its source map.
//
// esbuild made both. The script is a CommonJS module without imports; the map is read when an error needs it.

/** What stack traces call the script. No file of a project has such a name. */
export const SCRIPT = 'lathe:bundle';

const LENGTH_BYTES = 4;
const decoder = new TextDecoder();

/** Before the script, on its first line: what CommonJS gives a module. */
const BEFORE = '(function (module, exports) {';
const AFTER = `\n})\n//# sourceURL=${SCRIPT}`;

let map = new Uint8Array();

export function dumps(script, sourceMap) {
  const bytes = new Uint8Array(LENGTH_BYTES + script.length + sourceMap.length);
  new DataView(bytes.buffer).setUint32(0, script.length, true);
  bytes.set(script, LENGTH_BYTES);
  bytes.set(sourceMap, LENGTH_BYTES + script.length);
  return bytes;
}

/** Evaluates the script and returns what it exports. */
export function evaluate(bundle) {
  const length = new DataView(bundle.buffer, bundle.byteOffset).getUint32(0, true);
  const end = LENGTH_BYTES + length;
  map = bundle.subarray(end);
  const script = decoder.decode(bundle.subarray(LENGTH_BYTES, end));
  const module = { exports: {} };
  (0, eval)(BEFORE + script + AFTER)(module, module.exports);
  return module.exports;
}

/** The text of the source map of the bundle that was evaluated last. */
export function sourceMap() {
  return decoder.decode(map);
}

/** Columns by which the script's first line is further right than esbuild's. */
export const FIRST_LINE_COLUMNS = BEFORE.length;
