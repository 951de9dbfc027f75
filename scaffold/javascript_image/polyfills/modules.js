// The modules of Node.js, from packages of npm.

import assert from 'assert/';
import * as buffer from 'buffer/';
import events from 'events/';
import path from 'path-browserify';
import querystring from 'querystring-es3';
import stream from 'readable-stream';
import string_decoder from 'string_decoder/';
import url from 'url/';
import util from 'util/';

import * as crypto from './crypto.js';

/** A module that imports get both as its default export and by the names of its members. */
const whole = (module) => ({ ...module, default: undefined });

Object.assign(util, { TextDecoder, TextEncoder });
Object.assign(url, { URL, URLSearchParams });
path.posix = path;

export default {
  assert,
  'assert/strict': assert.strict,
  buffer: whole(buffer),
  crypto: whole(crypto),
  events,
  path,
  'path/posix': path,
  querystring,
  stream,
  'stream/promises': stream.promises,
  string_decoder,
  url,
  util,
};
