// Hashes and random numbers of `node:crypto`. Signatures and ciphers with keys are those of `crypto.subtle`.

import { Buffer } from 'buffer/';
import { hmac } from '@noble/hashes/hmac.js';
import { md5, ripemd160, sha1 } from '@noble/hashes/legacy.js';
import { pbkdf2 } from '@noble/hashes/pbkdf2.js';
import { sha224, sha256, sha384, sha512 } from '@noble/hashes/sha2.js';
import { sha3_256, sha3_512 } from '@noble/hashes/sha3.js';

const HASHES = { md5, ripemd160, sha1, sha224, sha256, sha384, sha512, 'sha3-256': sha3_256, 'sha3-512': sha3_512 };

function hashOf(name) {
  const found = HASHES[String(name).toLowerCase().replace(/^rsa-/, '').replace(/^sha-/, 'sha')];
  if (!found) throw new Error(`Digest method not supported: ${name}`);
  return found;
}

const bytes = (data, encoding) => typeof data === 'string' ? Buffer.from(data, encoding) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
const encoded = (result, encoding) => encoding && encoding !== 'buffer' ? Buffer.from(result).toString(encoding) : Buffer.from(result);

class Digest {
  #state;

  constructor(state) {
    this.#state = state;
  }

  update(data, encoding) {
    this.#state.update(bytes(data, encoding));
    return this;
  }

  digest(encoding) {
    return encoded(this.#state.digest(), encoding);
  }

  copy() {
    return new this.constructor(this.#state.clone());
  }
}

export class Hash extends Digest {}
export class Hmac extends Digest {}

export class KeyObject {
  #key;

  constructor(type, key) {
    Object.defineProperty(this, 'type', { value: type, enumerable: true });
    this.#key = key;
  }

  get symmetricKeySize() {
    return this.#key.length;
  }

  export({ format } = {}) {
    return format === 'jwk' ? { kty: 'oct', k: this.#key.toString('base64url') } : Buffer.from(this.#key);
  }
}

const secretOf = (key) => key instanceof KeyObject ? key.export() : bytes(key);

export const createHash = (name) => new Hash(hashOf(name).create());
export const createHmac = (name, key) => new Hmac(hmac.create(hashOf(name), secretOf(key)));
export const hash = (name, data, encoding = 'hex') => createHash(name).update(data).digest(encoding);
export const getHashes = () => Object.keys(HASHES);
export const createSecretKey = (key, encoding) => new KeyObject('secret', Buffer.from(bytes(key, encoding)));

export function randomBytes(size, callback) {
  const result = Buffer.alloc(size);
  // The engine fills at most this many bytes at once.
  for (let from = 0; from < size; from += 65536) globalThis.crypto.getRandomValues(result.subarray(from, from + 65536));
  return callback ? queueMicrotask(() => callback(null, result)) : result;
}

export function randomFillSync(buffer) {
  buffer.set(randomBytes(buffer.length));
  return buffer;
}

export function randomInt(low, high) {
  const [from, to] = high === undefined ? [0, low] : [low, high];
  const range = to - from;
  const limit = 2 ** 48 - 2 ** 48 % range;
  for (;;) {
    const number = randomBytes(6).readUIntBE(0, 6);
    if (number < limit) return from + number % range;
  }
}

export const randomUUID = () => globalThis.crypto.randomUUID();
export const getRandomValues = (array) => globalThis.crypto.getRandomValues(array);

export function timingSafeEqual(a, b) {
  const [left, right] = [bytes(a), bytes(b)];
  if (left.length !== right.length) throw new RangeError('Input buffers must have the same byte length');
  let difference = 0;
  for (let index = 0; index < left.length; index++) difference |= left[index] ^ right[index];
  return difference === 0;
}

export const pbkdf2Sync = (password, salt, rounds, length, name) => Buffer.from(pbkdf2(hashOf(name), bytes(password), bytes(salt), { c: rounds, dkLen: length }));

const refusal = (name) => function refused() {
  throw new Error(`crypto.${name} is not available in a tool: use crypto.subtle`);
};
export const createSign = refusal('createSign');
export const createVerify = refusal('createVerify');
export const createPrivateKey = refusal('createPrivateKey');
export const createPublicKey = refusal('createPublicKey');
export const createCipheriv = refusal('createCipheriv');
export const createDecipheriv = refusal('createDecipheriv');
export const sign = refusal('sign');
export const verify = refusal('verify');
export const generateKeyPairSync = refusal('generateKeyPairSync');
export const scryptSync = refusal('scryptSync');
export const constants = {};
export const webcrypto = globalThis.crypto;
export const { subtle } = globalThis.crypto;
