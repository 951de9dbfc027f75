// Questions of a running tool to the person or the client behind its call.

import { jsonOf } from './json.js';

/** The host refused the questions. `code` is `invalid`, `too_many` or `too_large`. */
export class InputRefused extends Error {
  name = 'InputRefused';

  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Nobody can answer: the call has no client, or its client did not declare the ability. */
export class InputUnavailable extends InputRefused {
  name = 'InputUnavailable';
}

/** Returns the argument `interaction` of `runTool`. */
export function interactionOf(ask) {
  async function requestInputs(questions) {
    const keys = Object.keys(questions);
    const requests = keys.map((key) => ({ key, body: jsonOf(request(questions[key]), { root: 'question', refusal: 'interaction: the question cannot be asked' }) }));
    if (requests.length === 0) return {};
    let results;
    try {
      results = ask(requests);
    } catch (error) {
      if (error?.payload?.code === undefined) throw error;
      const code = error.payload.code.replaceAll('-', '_');
      const Refused = code === 'unavailable' ? InputUnavailable : InputRefused;
      throw new Refused(error.payload.message, code);
    }
    return Object.fromEntries(keys.map((key, index) => [key, result(questions[key], JSON.parse(results[index]))]));
  }
  return {
    requestInputs,
    async requestInput(key, question) {
      return (await requestInputs({ [text('key', key)]: question }))[key];
    },
  };
}

function request(question) {
  switch (question?.kind) {
    case 'form': {
      const requestedSchema = { type: 'object', properties: question.properties ?? {} };
      if (question.required?.length) requestedSchema.required = question.required;
      const params = { mode: 'form', message: text('message', question.message), requestedSchema };
      return { method: 'elicitation/create', params };
    }
    case 'visit':
      return {
        method: 'elicitation/create',
        params: { mode: 'url', message: text('message', question.message), url: text('url', question.url) },
      };
    case 'sampling': {
      const { kind, messages, ...more } = question;
      const all = typeof messages === 'string' ? [{ role: 'user', content: { type: 'text', text: messages } }] : messages;
      return { method: 'sampling/createMessage', params: { ...more, messages: all } };
    }
    case 'roots':
      return { method: 'roots/list', params: {} };
    default:
      throw new TypeError("interaction: the kind of a question must be 'form', 'visit', 'sampling' or 'roots'");
  }
}

function result(question, found) {
  switch (question.kind) {
    case 'sampling':
      return found;
    case 'roots':
      return found.roots;
    default:
      return { action: found.action, accepted: found.action === 'accept', content: found.content ?? {} };
  }
}

function text(name, value) {
  if (typeof value !== 'string') throw new TypeError(`interaction: ${name} must be a string`);
  return value;
}
