// What a tool is called with. For the editor and `tsc`; nothing of it is in the published tool.

/** The one argument of `runTool`. `Input` is what your `inputSchema` lets through. */
export interface RunToolArguments<Input = Record<string, unknown>> {
  /** The validated input; with a zod schema as `inputSchema`, what it parses the input to. */
  toolInput: Input;
  metadata: Metadata;
  config: Config;
  /** `null` when the caller names no conversation. */
  conversation: Conversation | null;
  /** Sends at once. `await` is welcome and never waits. */
  sendStatusEvent: (message: string, event?: StatusEvent) => Promise<void>;
  userVariables: UserVariables;
}

/** A string is answered as it is, any other value but `null` and `undefined` as compact JSON. */
export type RunTool<Input = Record<string, unknown>> = (arguments_: RunToolArguments<Input>) => unknown;

export interface Metadata {
  invocationMode: 'regular' | 'conversation-simulation';
  invocationId: string;
  toolId: string;
  toolName: string;
  version: string;
  organization: string;
  /** When the run ends at the latest, in milliseconds since 1970. */
  deadlineMs: number;
}

/** The names that `package.json` lists under `required_envvars` and `required_secret_envvars`, and no others. */
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
  /** How far the work is, of `total`, in any unit. */
  progress?: number;
  total?: number;
  /** Any JSON value. */
  data?: unknown;
}

/** Name to value. Sensitive values are redacted wherever they are stored. */
export interface UserVariables {
  nonsensitive: Record<string, string>;
  sensitive: Record<string, string>;
}

/** What `fetch` throws when the host does not make a request, or does not pass on its answer. */
export interface EgressRefused extends TypeError {
  name: 'EgressRefused';
  code: 'denied' | 'budget' | 'invalid_request' | 'request_too_large' | 'response_too_large' | 'simulated';
}
