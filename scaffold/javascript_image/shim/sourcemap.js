// Reads source maps (https://tc39.es/ecma426/), to the extent that esbuild uses them.

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CONTINUES = 32;

/** Parses a map. Returns a function from a location in the script to its location in a source file, or `null`. */
export function reader(text) {
  const { sources = [], mappings = '' } = JSON.parse(text);
  const lines = decoded(mappings);
  return (line, column) => {
    const segments = lines[line - 1] ?? [];
    // The last segment that begins at or before the column.
    const found = segments.findLast((segment) => segment.column <= column - 1);
    if (found?.source === undefined) return null;
    return { file: sources[found.source], line: found.line + 1, column: found.sourceColumn + 1 };
  };
}

function decoded(mappings) {
  let [source, line, sourceColumn] = [0, 0, 0];
  return mappings.split(';').map((text) => {
    let column = 0;
    return text.split(',').filter(Boolean).map((segment) => {
      const numbers = variableLength(segment);
      column += numbers[0];
      if (numbers.length < 4) return { column };
      source += numbers[1];
      line += numbers[2];
      sourceColumn += numbers[3];
      return { column, source, line, sourceColumn };
    });
  });
}

/** Decodes Base64 VLQ numbers: five bits per digit, lowest first; the lowest bit of a number is its sign. */
function variableLength(text) {
  const numbers = [];
  let [value, shift] = [0, 0];
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    value |= (digit & (CONTINUES - 1)) << shift;
    shift += 5;
    if (digit & CONTINUES) continue;
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}
