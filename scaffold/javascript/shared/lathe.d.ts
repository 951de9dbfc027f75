// The types of a tool's arguments, for the editor and `tsc`. The published tool does not contain this file.

/** The argument of `runTool`. `Input` is the type of the values that `inputSchema` accepts. */
export interface RunToolArguments<Input = Record<string, unknown>> {
  /** The validated input. If `inputSchema` is a zod schema, the value that it parses the input to. */
  toolInput: Input;
  metadata: Metadata;
  config: Config;
  /** `null` if the caller names no conversation. */
  conversation: Conversation | null;
  /** Sends a status event to the caller at once. `await` is optional and does not wait. */
  sendStatusEvent: (message: string, event?: StatusEvent) => Promise<void>;
  userVariables: UserVariables;
  /** Adds content blocks to the result, besides the output. */
  content: Content;
  /** Sends a log message, which becomes a line of the run's printed text. `data` is any JSON value of at most 8 KiB. */
  log: (level: LogLevel, data: unknown, options?: { logger?: string }) => void;
  /**
   * Runs another tool, which `calls` in `package.json` lists, and returns its output: a text, or any other value as JSON. An
   * aborted `signal` cancels the run. Throws `ToolCallError` if there is no output.
   */
  callTool: (name: string, input?: Record<string, unknown>, options?: { signal?: AbortSignal }) => Promise<string>;
  /** Asks the person or the client behind the call. */
  interaction: Interaction;
}

/** A returned string becomes the output unchanged, any other value except `null` and `undefined` compact JSON. */
export type RunTool<Input = Record<string, unknown>> = (arguments_: RunToolArguments<Input>) => unknown;

export interface Metadata {
  invocationMode: 'regular' | 'conversation-simulation';
  invocationId: string;
  toolId: string;
  toolName: string;
  version: string;
  organization: string;
  /** Time at which the run is stopped, in milliseconds since 1970. */
  deadlineMs: number;
}

/** The variables that `required_envvars` and `required_secret_envvars` in `package.json` list, name to value. */
export interface Config {
  envvars: Record<string, string>;
  secrets: Record<string, string>;
}

export interface Conversation {
  conversationId: string;
  interactionId: string | null;
  userId: string | null;
}

export interface StatusEvent {
  /** Amount of work done, out of `total`, in any unit. */
  progress?: number;
  total?: number;
  /** Any JSON value. */
  data?: unknown;
}

/** The levels of syslog, lowest first. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/**
 * Content besides the output, in the order in which it is added. A tool that throws keeps the blocks that it added before. A
 * run adds at most 32 blocks with 1 MiB in all; a block beyond that, or with a malformed media type or URI, throws
 * `ContentRefused`.
 */
export interface Content {
  addText: (text: string) => void;
  /** Adds an image with its media type, such as `image/png`. */
  addImage: (data: Uint8Array | ArrayBuffer, mimeType: string) => void;
  addAudio: (data: Uint8Array | ArrayBuffer, mimeType: string) => void;
  /** Adds a resource with its contents. */
  addResource: (uri: string, contents: string | Uint8Array | ArrayBuffer, mimeType?: string) => void;
  /** Adds a link to a resource, which the reader may fetch. */
  addLink: (uri: string, name: string, options?: { description?: string; mimeType?: string }) => void;
}

/** The error that the functions of `content` throw if the host refuses a block. */
export interface ContentRefused extends Error {
  name: 'ContentRefused';
  code: 'too_many' | 'too_large' | 'invalid';
}

/** The error that `callTool` throws. `kind` is the type of the exception that a failed tool threw. */
export interface ToolCallError extends Error {
  name: 'ToolCallError';
  code: 'denied' | 'invalid_arguments' | 'budget' | 'failed';
  kind?: string;
}

/**
 * Questions to the person or the client behind the call. A run does not wait for an answer: a question without one ends the run,
 * and when the client has answered, the tool runs again from its start, where the question returns the answer at once. So a tool
 * asks before it does what must not be done twice. `key` names the question within the call: 1 to 64 of `A-Z a-z 0-9 _ . -`.
 */
export interface Interaction {
  requestInput: <Asked extends Question>(key: string, question: Asked) => Promise<InputResult<Asked>>;
  /** Asks several questions at once, and returns their results by key. */
  requestInputs: <Asked extends Record<string, Question>>(
    questions: Asked,
  ) => Promise<{ [Key in keyof Asked]: InputResult<Asked[Key]> }>;
}

export type Question = Form | Visit | Sampling | Roots;

/** A form for the person. `properties` are JSON Schemas of texts, numbers, booleans and choices, by field name. */
export interface Form {
  kind: 'form';
  message: string;
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

/** A page that the person visits. The tool does not learn what they enter there. */
export interface Visit {
  kind: 'visit';
  message: string;
  url: string;
}

/** A request to the model of the client, with any other parameters of MCP. */
export interface Sampling {
  kind: 'sampling';
  messages: string | Record<string, unknown>[];
  maxTokens: number;
  [parameter: string]: unknown;
}

/** A request for the directories that the client works in. */
export interface Roots {
  kind: 'roots';
}

export type InputResult<Asked extends Question> = Asked extends Sampling
  ? Sampled
  : Asked extends Roots
    ? { uri: string; name?: string }[]
    : Answer;

/** What the person did, and the fields of the form if they accepted it. */
export interface Answer {
  action: 'accept' | 'decline' | 'cancel';
  accepted: boolean;
  content: Record<string, unknown>;
}

/** What the model of the client wrote. `content` is one block of MCP, or several. */
export interface Sampled {
  role: string;
  content: unknown;
  model: string;
  stopReason?: string;
}

/** The host refused questions. */
export interface InputRefused extends Error {
  name: 'InputRefused' | 'InputUnavailable';
  /** `unavailable`: the call has no client, or its client did not declare the ability. */
  code: 'unavailable' | 'invalid' | 'too_many' | 'too_large';
}

/** Variables of the user, name to value. Sensitive values are redacted in stored records. */
export interface UserVariables {
  nonsensitive: Record<string, string>;
  sensitive: Record<string, string>;
}

/** The error that `fetch` throws if the host refuses to send a request, or to pass on its response. */
export interface EgressRefused extends TypeError {
  name: 'EgressRefused';
  code: 'denied' | 'budget' | 'invalid_request' | 'request_too_large' | 'response_too_large' | 'simulated';
}
