// Describes a thrown value: type, message, and a stack trace with the author's files.

import { FIRST_LINE_COLUMNS, SCRIPT, sourceMap } from './bundle.js';
import { reader } from './sourcemap.js';

// Maximum characters of a message and of a stack trace; above the limits of the host, which are in bytes.
const MESSAGE_MAX = 1 << 15;
const TRACE_MAX = 1 << 17;

/** Number of equal frames in a row that a stack trace shows of a recursion. */
const REPEATED_MAX = 3;

/** Maximum depth of causes, which may be circular. */
const CAUSES_MAX = 8;

/** A frame in the engine's format: `async*name@file:line:column`. */
const FRAME = /^(async\*|promise callback\*)?(.*)@(.*):(\d+):(\d+)$/;

/** Returns the error as `run-tool` returns it. */
export function describe(error) {
  const kind = sendable(nameOf(error).slice(0, MESSAGE_MAX));
  const message = sendable(messageOf(error).slice(0, MESSAGE_MAX));
  let stackTrace = [`${kind}: ${message}`.slice(0, TRACE_MAX)];
  try {
    stackTrace = shortened(lines(error, place())).map(sendable);
  } catch {
    // If reading the error throws, only its name and message are shown.
  }
  return { kind, message, stackTrace };
}

/** Returns the location of the innermost frame in the project's own files. */
export function authorsPlace(error) {
  const own = frames(error, place()).find(({ file }) => !file.startsWith('node_modules/'));
  return { file: own?.file, line: own?.line };
}

/** Returns the location of a syntax error: that of the script's text, or of the innermost call, such as `new RegExp`. */
export function syntaxPlace(error) {
  if (!(error instanceof SyntaxError)) return undefined;
  const mapped = place();
  return frames(error, mapped)[0] ?? mapped(error.lineNumber, error.columnNumber) ?? undefined;
}

function lines(error, mapped, depth = 0) {
  const all = [`${nameOf(error)}: ${messageOf(error)}`];
  let repeated = 0;
  for (const { name, file, line, column } of frames(error, mapped)) {
    const at = `${file}:${line}:${column}`;
    const frame = name ? `    at ${name} (${at})` : `    at ${at}`;
    repeated = frame === all.at(-1) ? repeated + 1 : 0;
    if (repeated < REPEATED_MAX) all.push(frame);
  }
  if (error?.cause !== undefined && depth < CAUSES_MAX) {
    const [first, ...rest] = lines(error.cause, mapped, depth + 1);
    all.push(`Caused by: ${first}`, ...rest);
  }
  return all;
}

/** Returns the frames in the author's code and its packages, innermost first. */
function frames(error, mapped) {
  const found = [];
  for (const text of String(error?.stack ?? '').split('\n')) {
    const [, context, name, source, line, column] = FRAME.exec(text) ?? [];
    const at = source === SCRIPT && mapped(Number(line), Number(column));
    if (at) found.push({ ...at, name: named(name, context) });
  }
  return found;
}

/** Simplifies a function name: the engine writes `outer/inner<` for a nested function. */
function named(name, context) {
  const plain = name.split('/').findLast((part) => part !== '' && part !== '<')?.replace(/<$/, '') ?? '';
  return context?.startsWith('async') && plain ? `async ${plain}` : plain;
}

function place() {
  const read = reader(sourceMap());
  return (line, column) => read(line, line === 1 ? column - FIRST_LINE_COLUMNS : column);
}

function nameOf(error) {
  try {
    return error instanceof Error || error instanceof DOMException ? String(error.name || 'Error') : 'Error';
  } catch {
    return 'Error';
  }
}

function messageOf(error) {
  try {
    return String(error instanceof Error || error instanceof DOMException ? error.message : textOf(error));
  } catch {
    return 'the error has no readable message';
  }
}

function textOf(value) {
  return typeof value === 'object' && value !== null ? (JSON.stringify(value) ?? String(value)) : value;
}

/** Escapes lone surrogates, which UTF-8 cannot encode. */
function sendable(text) {
  return text.replace(/[\ud800-\udfff]/gu, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** Shortens a stack trace. The rest is still above the host's limit, so that the host truncates it and adds its note. */
function shortened(all) {
  const kept = [];
  let left = TRACE_MAX;
  for (const line of all) {
    if (left <= 0) break;
    kept.push(line.slice(0, left));
    left -= line.length;
  }
  return kept;
}
