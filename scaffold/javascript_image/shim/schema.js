// The input schema, which the module exports as `inputSchema`.

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const TARGET = 'draft-2020-12';

const HOW =
  'export a JSON Schema object, or a schema that has one, such as that of zod 4.2 and later; ' +
  'with an older zod 4 export `z.toJSONSchema(schema, { io: "input" })`';

/** Returns the schema as text. Without an exported schema, every object is accepted. */
export function schemaText(exported) {
  return JSON.stringify(exported === undefined ? { $schema: DIALECT, type: 'object' } : jsonSchema(exported));
}

/** Parses the input with the exported schema, which may convert it and fill in defaults. Other inputs stay unchanged. */
export async function parsed(exported, input) {
  const validate = exported?.['~standard']?.validate;
  if (typeof validate !== 'function') return input;
  const { issues, value } = await validate(input);
  if (issues) throw new InvalidInput(issues);
  return value;
}

/** The exported schema refuses an input that its JSON Schema accepts. */
export class InvalidInput extends TypeError {
  name = 'InvalidInput';

  constructor(issues) {
    super(issues.map(described).join('; '));
    this.issues = issues;
  }
}

function described({ path = [], message }) {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  return [...keys, message].join(': ');
}

function jsonSchema(exported) {
  // https://standardschema.dev/json-schema
  const standard = exported?.['~standard']?.jsonSchema;
  if (typeof standard?.input === 'function') return standard.input({ target: TARGET });
  if (typeof exported?.toJSONSchema === 'function') return exported.toJSONSchema({ target: TARGET, io: 'input' });
  const isPlain = typeof exported === 'object' && exported !== null && !('~standard' in exported);
  if (!isPlain) throw new TypeError(`inputSchema is not a JSON Schema: ${HOW}`);
  return exported;
}
