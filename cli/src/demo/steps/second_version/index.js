// greet_guests: greets guests in their language and refuses whoever is not on the list.

const WORDS = { en: 'Hello', de: 'Guten Tag', fr: 'Bonjour' };
const STRANGERS = new Set(['Mallory']);

export const inputSchema = {
  type: 'object',
  description: 'Whom to greet, how often, and in which language.',
  properties: {
    name: { type: 'string', description: 'The name of the person' },
    times: { type: 'integer', description: 'How many greetings to write', default: 1 },
    language: { enum: Object.keys(WORDS), default: 'en' },
  },
  required: ['name'],
  additionalProperties: false,
};

class LookupError extends Error {
  name = 'LookupError';
}

export async function runTool({ toolInput, metadata, sendStatusEvent }) {
  const { name, times = 1, language = 'en' } = toolInput;
  if (times < 1) throw new RangeError(`times must be at least 1, not ${times}`);
  consultGuestList(name);
  const greetings = [];
  for (let number = 1; number <= times; number++) {
    greetings.push(`${WORDS[language]}, ${name}!`);
    await sendStatusEvent(`greeting ${name}`, { progress: number, total: times });
  }
  return { greetings, delivered: metadata.invocationMode === 'regular' };
}

/** Refuses strangers. */
function consultGuestList(name) {
  if (STRANGERS.has(name)) throw new LookupError(`${name} is not on the guest list`);
}
