// {{tool_name}}: greets somebody by name. Replace the body, keep the exports.

import type { Metadata, RunToolArguments } from './lathe';

/** What callers see, and what every input is checked against before it gets here. */
export const inputSchema = {
  type: 'object',
  description: 'Whom to greet, and how often.',
  properties: {
    name: { type: 'string', description: 'The name of the person' },
    times: { type: 'integer', description: 'How many greetings to write', default: 1 },
  },
  required: ['name'],
  additionalProperties: false,
};

interface ToolInput {
  name: string;
  times?: number;
}

export async function runTool({ toolInput, metadata, config, sendStatusEvent }: RunToolArguments<ToolInput>) {
  const { name, times = 1 } = toolInput;
  if (times < 1) throw new RangeError(`times must be at least 1, not ${times}`);
  // The word is visible once it is listed under required_envvars in package.json.
  const word = config.envvars.GREETING ?? 'Hello';
  const greetings: string[] = [];
  for (let number = 1; number <= times; number++) {
    greetings.push(`${word}, ${name}!`);
    await sendStatusEvent('greeting written', { progress: number, total: times });
  }
  return { greetings, delivered: deliver(greetings, metadata) };
}

/** Here a real tool would change the world, so a simulated conversation stops short of it. */
function deliver(greetings: string[], metadata: Metadata): boolean {
  return metadata.invocationMode === 'regular' && greetings.length > 0;
}
