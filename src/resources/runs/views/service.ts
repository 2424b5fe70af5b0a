/** Reads that the console shows of runs; nothing here changes anything. */
import { found } from '../../../platform/db/client.ts';
import type { Caller } from '../../../platform/http/endpoint.ts';
import type { RunStore } from '../store/index.ts';
import type { RunFilters } from './contract.ts';
import { groupFailures } from './failures.ts';
import { withoutOpaque } from '../../../platform/models/recorded-parts.ts';

export type RunViews = ReturnType<typeof createRunViews>;

export interface RunViewsDependencies {
  store: Pick<
    RunStore,
    | 'searchRuns'
    | 'listFailures'
    | 'countByStatus'
    | 'showRun'
    | 'childrenOf'
    | 'readTimeline'
    | 'readTranscript'
    | 'findRun'
  >;
  /** A run can be tried again for so many milliseconds after its end. */
  detailTtlMs: number;
}

/** So many runs of each reason are named, which is as many as anybody tries again at once. */
const MAX_IDS = 100;

export const createRunViews = ({ store, detailTtlMs }: RunViewsDependencies) => ({
  async search({ customerId }: Caller, filters: RunFilters, page: { limit: number; before?: string | undefined }) {
    const { rows, next } = await store.searchRuns(customerId, filters, page);
    return { data: rows, meta: { limit: page.limit, next } };
  },

  counts: ({ customerId }: Caller, agent?: string) => store.countByStatus(customerId, agent),

  async failures(
    { customerId }: Caller,
    { since_hours: hours, agent }: { since_hours: number; agent?: string | undefined },
  ) {
    const runs = await store.listFailures(customerId, hours, agent);
    const data = groupFailures(runs, MAX_IDS).map((group) => ({ ...group, cost_usd: group.cost_usd.toFixed(8) }));
    return { data, meta: { since_hours: hours, looked_at: runs.length } };
  },

  async show({ customerId }: Caller, runId: string) {
    const [run, children] = await Promise.all([store.showRun(customerId, runId), store.childrenOf(customerId, runId)]);
    const shown = found(run);
    const age = shown.completed_at === null ? 0 : Date.now() - new Date(shown.completed_at).getTime();
    return { ...shown, children, can_retry: age < detailTtlMs };
  },

  async timeline({ customerId }: Caller, runId: string, { after, limit }: { after: number; limit: number }) {
    const data = await store.readTimeline(customerId, runId, { after, limit });
    if (data.length === 0) found(await store.findRun(customerId, runId));
    const last = data.at(-1)?.id ?? after;
    return { data, meta: { limit, next: data.length === limit ? last : null, last } };
  },

  async transcript({ customerId }: Caller, runId: string, page: { from_turn: number; limit: number }) {
    const { rows, nextTurn } = await store.readTranscript(customerId, runId, page);
    if (rows.length === 0) found(await store.findRun(customerId, runId));
    const data = rows.map((row) => ({ ...row, content: withoutOpaque(row.content) }));
    return { data, meta: { next_turn: nextTurn } };
  },
});
