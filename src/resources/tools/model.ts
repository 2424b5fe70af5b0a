/** What a tool is to the run that calls it. Every kind (built-in, custom, MCP) becomes this. */
import type { FileStore } from '../../platform/files/files.ts';
import type { GuardedFetch } from '../../platform/egress/egress.ts';
import type { Effect } from '../runs/model.ts';

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
export const TOOL_ACCESS = ['agent', 'human', 'both'] as const;

export interface Tool {
  slug: string;
  description: string;
  /** JSON Schema of the arguments, an object. */
  parameters: Record<string, unknown>;
  /** `read` and `idempotent` are repeated after a failure, `irreversible` gets one attempt. May depend on the call. */
  effect: Effect | ((args: unknown) => Effect);
  /** Shown to people; gates nothing. */
  sensitive: boolean;
  /** Where it is defined: `app.tools.<slug>`, `(db)`, `mcp.<server>`. */
  module: string;
  /** `activity`: `execute` answers. `child_run`: the workflow starts a child run and waits for it. */
  dispatch: 'activity' | 'child_run';
  /** @throws ToolError for what the model should be told; anything else counts as a failure and is retried */
  execute(args: unknown, context: ToolContext): Promise<unknown>;
}

/** The effect of one call; decided before it runs and kept with it. */
export const effectOf = ({ effect }: Pick<Tool, 'effect'>, args: unknown): Effect =>
  typeof effect === 'function' ? effect(args) : effect;

/** Somewhere tools come from: the built-in ones, a workspace's custom ones, an MCP server. */
export interface ToolSource {
  /** Those of `slugs` that this source has, for this workspace. */
  find(customerId: string, slugs: readonly string[]): Promise<Tool[]>;
}

/** A refusal with a reason that the model can act on: bad arguments, a forbidden address, a missing file. */
export class ToolError extends Error {}
