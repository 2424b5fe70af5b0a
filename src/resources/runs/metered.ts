/** Counts how runs end, where that is recorded: a repeated write, which records nothing, counts nothing. */
import { acceptedAtMs } from '../../platform/core/ids.ts';
import type { Meters } from '../../platform/observability/meters.ts';
import type { RunStore } from './store/index.ts';

type RunMeters = Pick<Meters, 'runWait' | 'runs' | 'runFailures' | 'tokens' | 'costUsd' | 'unpricedTurns'>;

export interface RunLabels {
  /** Agents that ship have labels of their own; those of workspaces share `custom`. */
  agent: (slug: string | null) => string;
  model: (model: string) => string;
}

const ageS = (runId: string): number => Math.max(0, Date.now() - acceptedAtMs(runId)) / 1_000;

export const meteredRuns = (store: RunStore, meters: RunMeters, labels: RunLabels): RunStore => ({
  ...store,

  async beginRun(beginning) {
    await store.beginRun(beginning);
    const conversation = beginning.isConversation ? 'yes' : 'no';
    meters.runWait.observe({ agent: labels.agent(beginning.agent), conversation }, ageS(beginning.runId));
  },

  async recordTurn(record) {
    const after = await store.recordTurn(record);
    if (!after) return after;
    const { run, end, usage, costUsd } = record;
    const agent = labels.agent(run.agent);
    const model = labels.model(record.model);
    meters.tokens.inc({ model, agent, direction: 'input' }, usage.inputTokens);
    meters.tokens.inc({ model, agent, direction: 'output' }, usage.outputTokens);
    if (costUsd === null) meters.unpricedTurns.inc({ model });
    else meters.costUsd.inc({ model, agent }, Number(costUsd));
    if (end) meters.runs.observe({ agent, outcome: end.status }, ageS(run.id));
    return after;
  },

  async endRun(runId, end) {
    const ended = await store.endRun(runId, end);
    if (ended?.isRecorded) {
      meters.runs.observe({ agent: labels.agent(ended.agent), outcome: end.status }, ageS(runId));
      if (end.status === 'failed') meters.runFailures.inc({ cause: end.error?.code ?? 'internal_error' });
    }
    return ended;
  },
});
