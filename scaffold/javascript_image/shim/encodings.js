// Encodings of response bodies.

/** The formats of `DecompressionStream` to try. Some servers send deflate without the header of zlib. */
const FORMATS = { gzip: ['gzip'], 'x-gzip': ['gzip'], deflate: ['deflate', 'deflate-raw'] };

/**
 * Decodes the body of an answer. A body in another encoding stays as it is if the tool chose the encodings; otherwise its reader
 * would take it for text.
 */
export async function decoded(answer, isChosen) {
  const fields = answer.headers.filter(([name]) => name.toLowerCase() === 'content-encoding');
  const names = fields.flatMap(([, value]) => value.toLowerCase().split(',')).map((name) => name.trim());
  const encodings = names.filter((name) => name !== '' && name !== 'identity');
  if (encodings.length === 0 || answer.body.length === 0) return answer;
  const unknown = encodings.find((name) => !(name in FORMATS));
  if (unknown !== undefined) {
    if (isChosen) return answer;
    throw new TypeError(`the body is encoded as ${unknown}, and fetch decodes gzip and deflate: set the header accept-encoding to get its bytes`);
  }
  let { body } = answer;
  for (const name of encodings.reverse()) body = await inflated(name, body);
  return { ...answer, body };
}

async function inflated(name, body) {
  let problem;
  for (const format of FORMATS[name]) {
    try {
      return await decompressed(format, body);
    } catch (error) {
      problem = error;
    }
  }
  throw new TypeError(`the body is not ${name}, which its content-encoding names: ${problem?.message}`);
}

async function decompressed(format, body) {
  const { readable, writable } = new DecompressionStream(format);
  const writer = writable.getWriter();
  // The reader throws the errors of the writer.
  writer.write(body).catch(() => {});
  writer.close().catch(() => {});
  const chunks = [];
  for (const reader = readable.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
  }
  const result = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    result.set(chunk, at);
    at += chunk.length;
  }
  return result;
}
