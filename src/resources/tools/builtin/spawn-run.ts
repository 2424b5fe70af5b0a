/** Hands work to another agent. The workflow does it, as a child run: an activity would not survive the wait. */
import { z } from 'zod';
import { builtinTool } from './builtin-tool.ts';

export const SpawnRunArguments = z.strictObject({
  agent: z.string().min(1).max(200).describe('Slug of the agent that does the work'),
  prompt: z.string().min(1).max(100_000).describe('The whole task. The agent sees nothing else of this conversation'),
  wait: z.boolean().default(true).describe('true: answer with its result. false: answer at once, it goes on by itself'),
});
export type SpawnRunArguments = z.output<typeof SpawnRunArguments>;

export const spawnRun = builtinTool({
  slug: 'spawn_run',
  area: 'agents',
  description:
    'Starts a run of another agent. Use it to delegate a self-contained task to an agent made for it, or to do several ' +
    'tasks side by side. Returns {run_id, status, output}; with wait=false the output is not known yet.',
  // The child run's id derives from the call, so starting it again starts nothing.
  effect: 'idempotent',
  dispatch: 'child_run',
  args: SpawnRunArguments,
  async execute() {
    throw new Error('spawn_run is carried out by the workflow, not by an activity');
  },
});
