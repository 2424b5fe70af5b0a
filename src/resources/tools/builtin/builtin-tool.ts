/** Makes a built-in tool. Its arguments are a zod schema, which is also what the model is shown. */
import { z } from 'zod';
import type { Effect } from '../../runs/model.ts';
import { ToolError, type Tool, type ToolContext } from '../model.ts';

interface Definition<Args extends z.ZodObject> {
  slug: string;
  /** The listing groups the tool under this. */
  area: 'agents' | 'files' | 'general' | 'memory' | 'people' | 'projects' | 'skills' | 'web';
  /** The model reads it: what the tool does, when to use it, what it answers. */
  description: string;
  effect: Effect | ((args: z.output<Args>) => Effect);
  sensitive?: boolean;
  dispatch?: Tool['dispatch'];
  isQuick?: boolean;
  args: Args;
  execute(args: z.output<Args>, context: ToolContext): Promise<unknown>;
}

export const builtinTool = <Args extends z.ZodObject>({
  slug,
  area,
  description,
  effect,
  sensitive = false,
  dispatch = 'activity',
  isQuick = false,
  args: schema,
  execute,
}: Definition<Args>): Tool => ({
  slug,
  description,
  // The schema is that of the input, in which arguments with a default are optional.
  parameters: z.toJSONSchema(schema, { io: 'input' }),
  effect:
    typeof effect === 'function'
      ? (args) => {
          const parsed = schema.safeParse(args);
          // Bad arguments are refused before anything happens, so nothing can happen twice.
          return parsed.success ? effect(parsed.data) : 'read';
        }
      : effect,
  sensitive,
  module: `app.tools.${area}.${slug}`,
  dispatch,
  isQuick,
  async execute(args, context) {
    const parsed = schema.safeParse(args);
    if (!parsed.success) throw new ToolError(`bad arguments for ${slug}: ${z.prettifyError(parsed.error)}`);
    return execute(parsed.data, context);
  },
});
