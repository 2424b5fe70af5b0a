/**
 * The slots of a worker, by kind. Those for model calls are apart from those for other work: a call takes hardly more than
 * memory while it waits for its provider, so many fit beside work of which a machine does little at once, and slow models
 * hold up no tool. A worker takes as many activities from Temporal as it has slots in all; what is too much for its kind
 * gives its slot back.
 */
import type { Config } from '../core/config.ts';
import { present } from '../core/present.ts';
import { createActivitySlots, type ActivitySlots } from './activity-slots.ts';
import type { TaskQueue } from './task-queues.ts';

type SlotKind = 'model_calls' | 'work';

/** Where queues are split, runs that began before go on at the queue of their workflows. */
const KINDS: Readonly<Record<TaskQueue, readonly SlotKind[]>> = {
  orchestration: ['model_calls', 'work'],
  models: ['model_calls'],
  tools: ['work'],
  webhooks: ['work'],
};

export interface WorkerSlots {
  total: number;
  of(activityType: string): ActivitySlots;
  use(): readonly { kind: SlotKind; state: string; count: number }[];
  leave(): Promise<unknown>;
}

export function createWorkerSlots(
  queue: TaskQueue,
  { WORKER_MAX_MODEL_CALLS, WORKER_MAX_CONCURRENT }: Pick<Config, 'WORKER_MAX_MODEL_CALLS' | 'WORKER_MAX_CONCURRENT'>,
  isModelCall: (activityType: string) => boolean,
): WorkerSlots {
  const sizes = { model_calls: WORKER_MAX_MODEL_CALLS, work: WORKER_MAX_CONCURRENT };
  const pools = new Map(KINDS[queue].map((kind) => [kind, createActivitySlots(sizes[kind])]));
  const [only] = pools.values();
  return {
    total: KINDS[queue].reduce((sum, kind) => sum + sizes[kind], 0),
    of: (activityType) => pools.get(isModelCall(activityType) ? 'model_calls' : 'work') ?? present(only),
    use: () =>
      [...pools].flatMap(([kind, slots]) =>
        Object.entries(slots.use()).map(([state, count]) => ({ kind, state, count })),
      ),
    leave: () => Promise.all([...pools.values()].map((slots) => slots.leave())),
  };
}
