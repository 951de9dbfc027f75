// The bundle of the author's code: the length of the script in 32 bits, the script, and its source map.
//
// esbuild generates both. The script is a CommonJS module without imports. The map is parsed when an error is described.

/** The script's name in stack traces. No file of a project can have this name. */
export const SCRIPT = 'lathe:bundle';

const LENGTH_BYTES = 4;
const decoder = new TextDecoder();

/** Precedes the script on its first line: the function that gives a CommonJS module its variables. */
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

/** Evaluates the script and returns its exports. */
export function evaluate(bundle) {
  const length = new DataView(bundle.buffer, bundle.byteOffset).getUint32(0, true);
  const end = LENGTH_BYTES + length;
  map = bundle.subarray(end);
  const script = decoder.decode(bundle.subarray(LENGTH_BYTES, end));
  const module = { exports: {} };
  (0, eval)(BEFORE + script + AFTER)(module, module.exports);
  return module.exports;
}

/** Returns the source map of the bundle that was evaluated last, as text. */
export function sourceMap() {
  return decoder.decode(map);
}

/** Number of columns by which the script's first line is shifted. */
export const FIRST_LINE_COLUMNS = BEFORE.length;
