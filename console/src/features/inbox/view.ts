/** The state of the inbox page, as the address holds it. */
import type { Wait } from '../../api/types.ts';

export const WAIT_KINDS = [
  'gate',
  'plan',
  'webhook_gate',
  'question',
  'paused',
  'lost_effect',
] as const satisfies readonly Wait['kind'][];

export interface InboxFilters {
  kind?: Wait['kind'];
  /** Without it, open waits are listed. */
  status?: 'settled';
  overdue?: true;
  /** Only waits that this person may answer. */
  mine?: true;
  project?: string;
  run?: string;
}

export function parseInboxFilters(search: Record<string, unknown>): InboxFilters {
  const kind = WAIT_KINDS.find((each) => each === search.kind);
  const id = (value: unknown) => (typeof value === 'string' && value !== '' ? value.slice(0, 200) : undefined);
  const project = id(search.project);
  const run = id(search.run);
  return {
    ...(kind && { kind }),
    ...(search.status === 'settled' && { status: 'settled' as const }),
    ...(search.overdue === true && { overdue: true as const }),
    ...(search.mine === true && { mine: true as const }),
    ...(project && { project }),
    ...(run && { run }),
  };
}
