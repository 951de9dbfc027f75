// The input of a run: JSON whose integers all have a number of JavaScript.

/** Digits of the smallest integer that may lose some. */
const LONG = /\d{16}/;

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]|true|false|null/g;

/** The input has an integer that JavaScript would round. */
export class InputNotExact extends RangeError {
  name = 'InputNotExact';
}

/** Parses the input. An integer that would lose digits is refused with its place. */
export function inputOf(text) {
  if (LONG.test(text)) refuseRounded(text);
  return JSON.parse(text);
}

/** Reads the tokens of a valid JSON text with their places. */
function refuseRounded(text) {
  const above = [];
  let isName = false;
  for (const [token] of text.matchAll(TOKEN)) {
    const inside = above.at(-1);
    switch (token) {
      case '{':
      case '[':
        above.push(token === '{' ? { name: '' } : { index: 0 });
        isName = token === '{';
        break;
      case '}':
      case ']':
        above.pop();
        isName = false;
        break;
      case ',':
        if (inside.index !== undefined) inside.index++;
        isName = inside.index === undefined;
        break;
      default:
        if (isName) {
          inside.name = JSON.parse(token);
          isName = false;
        } else if (/^-?\d+$/.test(token) && BigInt(Number(token)) !== BigInt(token)) {
          const place = above.map(({ name, index }) => (index === undefined ? `.${name}` : `[${index}]`)).join('');
          throw new InputNotExact(`toolInput${place}: ${token} has no exact number in JavaScript: the caller sends it as a string`);
        }
    }
  }
}
