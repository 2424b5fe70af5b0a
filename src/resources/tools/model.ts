/** A tool as the run sees it that calls it. Every kind (built-in, custom, MCP) becomes this. */
import type { FileStore } from '../../platform/files/files.ts';
import type { GuardedFetch } from '../../platform/egress/egress.ts';
import type { ToolCredential } from '../integrations/model.ts';
import type { Dispatch, Effect } from '../runs/model.ts';

/** A tool may use these. It gets no database and no service: what it needs of them is given to it as a function. */
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
  /** @returns the token that the workspace gave to an integration, and where it may go; undefined if there is none */
  credential(integration: string): Promise<ToolCredential | undefined>;
  saveArtifact(
    file: { filename: string; contentType: string; bytes: Buffer },
    /** Of several files of one call, from 0. */
    nth?: number,
  ): Promise<{ artifactId: string }>;
}

/** The kinds of custom tools. */
export const TOOL_KINDS = ['stub', 'webhook', 'script', 'command', 'container', 'miniapp'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];
export const TOOL_SHAPES = ['cli', 'api', 'miniapp'] as const;
export type ToolShape = (typeof TOOL_SHAPES)[number];
export const TOOL_ACCESS = ['agent', 'human', 'both'] as const;

/** The `module` of every custom tool. */
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
  /** The slug of the integration whose credential it uses. */
  integration: string | null;
  effect: Effect;
  sensitive: boolean;
  /** The JSON Schema of its arguments, which describes an object. */
  schema: Record<string, unknown>;
  /** The kind defines what the body contains. */
  body: Record<string, unknown>;
  version: number;
}

export interface Tool {
  slug: string;
  description: string;
  /** The JSON Schema of the arguments, which describes an object. */
  parameters: Record<string, unknown>;
  /** `read` and `idempotent` are repeated after a failure, `irreversible` gets one attempt. May depend on the call. */
  effect: Effect | ((args: unknown) => Effect);
  /** It is shown to people, and restricts nothing. */
  sensitive: boolean;
  /** The place where the tool is defined: `app.tools.<area>.<slug>`, `(db)`, `mcp.<server>`. */
  module: string;
  /** Set for a custom tool. */
  kind?: ToolKind;
  /**
   * `activity`: `execute` answers. `child_run`: the workflow starts a child run and waits for it. `human`: `execute`
   * gives a `HumanWait`, and the workflow waits for what a person sends.
   */
  dispatch: Dispatch;
  /**
   * Says why it cannot be called at the moment: it is then not offered, and a model that calls it all the same is told.
   */
  unavailable?: string;
  /** Why models are told of its arguments in another form than its own. */
  adapted?: string;
  /**
   * It only reads what the service has at hand, within milliseconds. Its calls are made by the turn that they are of, and
   * take no activity.
   */
  isQuick?: boolean;
  /** @throws ToolError for what the model should be told; anything else counts as a failure and is retried */
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** The workflow waits for this. */
export interface HumanWait {
  /** The page that takes the answer. */
  pageId: string;
  timeoutMs: number;
  /** The timeline shows where the person finds the page; set by the call that made it. */
  url?: string;
}

/** @returns the effect of one call, which is decided before it runs and kept with it */
export const effectOf = ({ effect }: Pick<Tool, 'effect'>, args: unknown): Effect =>
  typeof effect === 'function' ? effect(args) : effect;

/** Models are told only of tools that can be called at the moment. */
export const isCallable = ({ unavailable }: Pick<Tool, 'unavailable'>): boolean => unavailable === undefined;

/** Tools come from several sources: the built-in ones, a workspace's custom ones, an MCP server. */
export interface ToolSource {
  /** @returns those of `slugs` that this source has for this workspace */
  find(customerId: string, slugs: readonly string[]): Promise<Tool[]>;
  /** @returns all tools of the source that people are shown */
  list?(customerId: string): Promise<Tool[]>;
}

/**
 * @returns the group of a tool in the listing: `memory`, `web`, `mcp`, `custom`; `general` where its module has no area
 */
export const categoryOf = (module: string): string => {
  if (module === CUSTOM_MODULE) return 'custom';
  const [root, ...rest] = module.split('.');
  return root === 'app' ? (rest.at(-3) === 'tools' ? rest.at(-2)! : 'general') : root!;
};

/** @returns the names of the arguments at the top of a tool's schema */
export const paramNames = (schema: Record<string, unknown>): string[] => {
  const { properties } = schema;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
};

/** The tool refuses for a reason that the model can act on: bad arguments, a forbidden address, a missing file. */
export class ToolError extends Error {}
