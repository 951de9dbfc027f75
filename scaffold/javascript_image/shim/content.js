// Content blocks: what a tool adds to its result besides its output.

import { wellFormed } from './json.js';

/** Maximum size of a block's contents. The host refuses more, and would stop the run for a much larger block. */
const BYTES_MAX = 1 << 20;

/** The host refused a content block. `code` is `too_many`, `too_large` or `invalid`. */
export class ContentRefused extends Error {
  name = 'ContentRefused';

  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Returns the argument `content` of `runTool`. */
export function contentOf(add) {
  const added = (tag, val, contents) => {
    if (contents.length > BYTES_MAX) {
      throw new ContentRefused(`the block has more than ${BYTES_MAX} bytes, the limit of all blocks of a run`, 'too_large');
    }
    try {
      add({ tag, val });
    } catch (error) {
      if (error?.payload?.code === undefined) throw error;
      throw new ContentRefused(error.payload.message, error.payload.code.replaceAll('-', '_'));
    }
  };
  const media = (tag) => (data, mimeType) => {
    const bytes = bytesOf('data', data);
    added(tag, { data: bytes, mimeType: text('mimeType', mimeType) }, bytes);
  };
  return {
    addText: (value) => added('text', text('text', value), value),
    addImage: media('image'),
    addAudio: media('audio'),
    addResource(uri, contents, mimeType) {
      const isText = typeof contents === 'string';
      const val = isText ? text('contents', contents) : bytesOf('contents', contents);
      const body = { tag: isText ? 'text' : 'blob', val };
      added('embedded', { uri: text('uri', uri), mimeType: optional('mimeType', mimeType), contents: body }, val);
    },
    addLink(uri, name, { description, mimeType } = {}) {
      const link = {
        uri: text('uri', uri),
        name: text('name', name),
        description: optional('description', description),
        mimeType: optional('mimeType', mimeType),
      };
      added('link', link, description ?? '');
    },
  };
}

function text(name, value) {
  if (typeof value !== 'string') throw new TypeError(`content: ${name} must be a string`);
  return wellFormed(`content: ${name}`, value);
}

function optional(name, value) {
  return value === undefined || value === null ? undefined : text(name, value);
}

function bytesOf(name, value) {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  throw new TypeError(`content: ${name} must be a Uint8Array or an ArrayBuffer`);
}
