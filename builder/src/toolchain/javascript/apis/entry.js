// Dispatches a call to the function of the API that the input names. At the build, the input schema is a report of the
// functions that the entry file exports and of their schemas.
import * as entry from './the entry file';

const FILE = 'the entry file';
const NAMES = [/* names */];
/** The APIs whose schemas are files. */
const DESCRIBED = [/* described */];

const HOW =
  'export a JSON Schema object, or a schema that has one, such as that of zod 4.2 and later; ' +
  'with an older zod 4 use `z.toJSONSchema(schema, { io: "input" })`';

export async function runTool({ toolInput, ...context }) {
  const { api, arguments: input } = toolInput;
  return entry[api]({ ...context, toolInput: await parsed(schemaOf(api), input) });
}

export const inputSchema = { toJSONSchema: () => report() };

/** The exported schema refuses arguments that its JSON Schema accepts. */
class InvalidInput extends TypeError {
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

/** The schema of an API in the export `inputSchemas`. */
function schemaOf(name) {
  const schemas = entry['inputSchemas'] ?? {};
  return Object.hasOwn(schemas, name) ? schemas[name] : undefined;
}

async function parsed(schema, input) {
  const validate = schema?.['~standard']?.validate;
  if (typeof validate !== 'function') return input;
  const { issues, value } = await validate(input);
  if (issues) throw new InvalidInput(issues);
  return value;
}

function report() {
  const functions = Object.keys(entry).filter((name) => isFunction(entry[name]));
  const modules = { [FILE]: { file: FILE, functions } };
  const problem = problemOf(functions);
  if (problem) return { modules, problem: { file: FILE, ...problem } };
  const schemas = {};
  for (const name of NAMES) if (!DESCRIBED.includes(name)) schemas[name] = jsonSchema(name, schemaOf(name));
  return { modules, schemas };
}

function problemOf(functions) {
  const parameters = functions.find((name) => entry[name].length > 1);
  if (parameters) {
    const shape = 'toolInput, metadata, config, conversation, sendStatusEvent, userVariables';
    const message = `${parameters} must take one object: write \`export async function ${parameters}({ ${shape} })\``;
    return { check: 'entry-point-signature', message };
  }
  if ('inputSchema' in entry) {
    const message = 'inputSchema is the schema of a tool of one function: export `inputSchemas`, an object with the schema of each API';
    return { check: 'input-schema', message };
  }
  const unknown = Object.keys(entry['inputSchemas'] ?? {}).find((name) => !NAMES.includes(name));
  return unknown && { check: 'input-schema', message: `inputSchemas has a schema for \`${unknown}\`, which is no API` };
}

function isFunction(value) {
  return typeof value === 'function' && !/^class\b/.test(Function.prototype.toString.call(value));
}

function jsonSchema(name, schema) {
  if (schema === undefined) return { type: 'object' };
  const target = 'draft-2020-12';
  // https://standardschema.dev/json-schema
  const standard = schema?.['~standard']?.jsonSchema;
  if (typeof standard?.input === 'function') return standard.input({ target });
  if (typeof schema?.toJSONSchema === 'function') return schema.toJSONSchema({ target, io: 'input' });
  const isPlain = typeof schema === 'object' && schema !== null && !('~standard' in schema);
  if (!isPlain) throw new TypeError(`inputSchemas.${name} is not a JSON Schema: ${HOW}`);
  return schema;
}
