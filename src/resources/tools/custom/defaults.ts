/** What a custom tool is taken to be where whoever makes it does not say. */
import type { Effect } from '../../runs/model.ts';
import type { CustomTool, ToolKind, ToolShape } from '../model.ts';
import { effectOfMethod } from './webhook.ts';

const SHAPES: Readonly<Record<ToolKind, ToolShape>> = {
  stub: 'api',
  webhook: 'api',
  script: 'cli',
  command: 'cli',
  container: 'cli',
  miniapp: 'miniapp',
};
const SENSITIVE: ReadonlySet<ToolKind> = new Set(['script', 'command', 'container', 'miniapp']);

/** Never more harmless than is known: what else may happen twice is for its author to say. */
const effectOf = ({ kind, body }: Pick<CustomTool, 'kind' | 'body'>): Effect => {
  if (kind === 'stub') return 'read';
  // One page a call, however often it is repeated.
  if (kind === 'miniapp') return 'idempotent';
  return kind === 'webhook' ? effectOfMethod(body['method']) : 'irreversible';
};

export const defaultsOf = (
  tool: Pick<CustomTool, 'kind' | 'body'>,
): Pick<CustomTool, 'shape' | 'sensitive' | 'effect'> => ({
  shape: SHAPES[tool.kind],
  sensitive: SENSITIVE.has(tool.kind),
  effect: effectOf(tool),
});
