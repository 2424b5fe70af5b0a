/**
 * A workspace's own tools. They are read with every turn and every call, so that a change counts at once, in runs that
 * are under way too.
 */
import { fieldsOf } from '../../../platform/core/record.ts';
import { checkArguments } from '../arguments.ts';
import { CUSTOM_MODULE, ToolError, type CustomTool, type Tool, type ToolSource } from '../model.ts';
import type { CustomKinds } from './kind.ts';

/** @param store gives only the tools that agents may use */
export const createCustomTools = (
  store: { findForAgents(customerId: string, slugs: readonly string[]): Promise<CustomTool[]> },
  kinds: CustomKinds,
): ToolSource => ({
  find: async (customerId, slugs) => (await store.findForAgents(customerId, slugs)).map((row) => toolOf(row, kinds)),
});

const toolOf = (row: CustomTool, kinds: CustomKinds): Tool => ({
  slug: row.slug,
  description: row.description,
  parameters: row.schema,
  effect: row.effect,
  sensitive: row.sensitive,
  module: CUSTOM_MODULE,
  kind: row.kind,
  dispatch: kinds[row.kind].dispatch,
  async execute(args, context) {
    // The schema may have changed since the model was shown it.
    const fault = await checkArguments({ slug: row.slug, parameters: row.schema }, args);
    if (fault) throw new ToolError(fault);
    return kinds[row.kind].execute(row, fieldsOf(args), context);
  },
});
