// {{tool_name}}: greets somebody by name. Replace the body and keep the exports.

/** The schema of the input. Callers see it, and every input is validated against it before the run. */
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

/** @param {import('./lathe').RunToolArguments<{ name: string, times?: number }>} arguments_ */
export async function runTool({ toolInput, metadata, config, sendStatusEvent }) {
  const { name, times = 1 } = toolInput;
  if (times < 1) throw new RangeError(`times must be at least 1, not ${times}`);
  // `envvars` contains only the names that required_envvars in package.json lists.
  const word = config.envvars.GREETING ?? 'Hello';
  const greetings = [];
  for (let number = 1; number <= times; number++) {
    greetings.push(`${word}, ${name}!`);
    await sendStatusEvent('greeting written', { progress: number, total: times });
  }
  return { greetings, delivered: deliver(greetings, metadata) };
}

/**
 * A real tool has its side effects here, such as sending a message. A simulated conversation must have none.
 * @param {string[]} greetings
 * @param {import('./lathe').Metadata} metadata
 */
function deliver(greetings, metadata) {
  return metadata.invocationMode === 'regular' && greetings.length > 0;
}
