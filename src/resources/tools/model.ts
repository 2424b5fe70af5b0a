/** What a tool is to the run that calls it. Every kind (built-in, custom, MCP) becomes this. */
import type { FileStore } from '../../platform/files/files.ts';
import type { GuardedFetch } from '../../platform/egress/egress.ts';
import type { Dispatch, Effect } from '../runs/model.ts';

/** What a tool may use. No database and no service: what a tool needs of them is given as a function. */
export interface ToolContext {
  customerId: string;
  runId: string;
  callId: string;
  agent: string;
  /** Fires when the run is cancelled or the call is out of time. */
  signal: AbortSignal;
  fetch: GuardedFetch;
  files: FileStore;
  now: () => Date;
  /** What the workspace gave to an integration as its token; undefined where it gave none. */
  credential(integration: string): Promise<string | undefined>;
  saveArtifact(file: { filename: string; contentType: string; bytes: Buffer }): Promise<{ artifactId: string }>;
}

/** Of custom tools. */
export const TOOL_KINDS = ['stub', 'webhook', 'script', 'command', 'container', 'miniapp'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];
export const TOOL_SHAPES = ['cli', 'api', 'miniapp'] as const;
export type ToolShape = (typeof TOOL_SHAPES)[number];
export const TOOL_ACCESS = ['agent', 'human', 'both'] as const;

/** `module` of every custom tool. */
export const CUSTOM_MODULE = '(db)';

/** A tool that a workspace made, as its row has it. */
export interface CustomTool {
  customerId: string;
  slug: string;
  /** Graph node id. */
  id: number;
  description: string;
  kind: ToolKind;
  shape: ToolShape;
  access: (typeof TOOL_ACCESS)[number];
  /** Slug of the integration whose credential it uses. */
  integration: string | null;
  effect: Effect;
  sensitive: boolean;
  /** JSON Schema of its arguments, an object. */
  schema: Record<string, unknown>;
  /** What its kind needs. */
  body: Record<string, unknown>;
  version: number;
}

export interface Tool {
  slug: string;
  description: string;
  /** JSON Schema of the arguments, an object. */
  parameters: Record<string, unknown>;
  /** `read` and `idempotent` are repeated after a failure, `irreversible` gets one attempt. May depend on the call. */
  effect: Effect | ((args: unknown) => Effect);
  /** Shown to people; gates nothing. */
  sensitive: boolean;
  /** Where it is defined: `app.tools.<area>.<slug>`, `(db)`, `mcp.<server>`. */
  module: string;
  /** Of a custom tool. */
  kind?: ToolKind;
  /**
   * `activity`: `execute` answers. `child_run`: the workflow starts a child run and waits for it. `human`: `execute`
   * gives a `HumanWait`, and the workflow waits for what a person sends.
   */
  dispatch: Dispatch;
  /** Why it cannot be called at the moment: not offered then, and told to a model that calls it all the same. */
  unavailable?: string;
  /** @throws ToolError for what the model should be told; anything else counts as a failure and is retried */
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** What is waited for. */
export interface HumanWait {
  /** The miniapp page that takes the answer. */
  pageId: string;
  timeoutMs: number;
  /** Where the person finds it, for the timeline: of a call that made the page. */
  url?: string;
}

/** The effect of one call; decided before it runs and kept with it. */
export const effectOf = ({ effect }: Pick<Tool, 'effect'>, args: unknown): Effect =>
  typeof effect === 'function' ? effect(args) : effect;

/** Somewhere tools come from: the built-in ones, a workspace's custom ones, an MCP server. */
export interface ToolSource {
  /** Those of `slugs` that this source has, for this workspace. */
  find(customerId: string, slugs: readonly string[]): Promise<Tool[]>;
  /** All that people are shown of it. */
  list?(customerId: string): Promise<Tool[]>;
}

/** What the listing groups a tool under: `memory`, `web`, `mcp`, `custom`; `general` where its module has no area. */
export const categoryOf = (module: string): string => {
  if (module === CUSTOM_MODULE) return 'custom';
  const [root, ...rest] = module.split('.');
  return root === 'app' ? (rest.at(-3) === 'tools' ? rest.at(-2)! : 'general') : root!;
};

/** Names of the arguments at the top of a tool's schema. */
export const paramNames = (schema: Record<string, unknown>): string[] => {
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
};

/** A refusal with a reason that the model can act on: bad arguments, a forbidden address, a missing file. */
export class ToolError extends Error {}
