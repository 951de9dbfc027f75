// greet_guests: greets guests in their language and refuses whoever is not on the list.

import type { RunToolArguments } from './lathe';

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

interface ToolInput {
  name: string;
  times?: number;
  language?: keyof typeof WORDS;
}

class LookupError extends Error {
  override name = 'LookupError';
}

export async function runTool({ toolInput, metadata, sendStatusEvent }: RunToolArguments<ToolInput>) {
  const { name, times = 1, language = 'en' } = toolInput;
  if (times < 1) throw new RangeError(`times must be at least 1, not ${times}`);
  consultGuestList(name);
  const greetings: string[] = [];
  for (let number = 1; number <= times; number++) {
    greetings.push(`${WORDS[language]}, ${name}!`);
    await sendStatusEvent(`greeting ${name}`, { progress: number, total: times });
  }
  return { greetings, delivered: metadata.invocationMode === 'regular' };
}

/** Refuses strangers. */
function consultGuestList(name: string): void {
  if (STRANGERS.has(name)) throw new LookupError(`${name} is not on the guest list`);
}
