/**
 * Task queue names. Where one process serves everything, all work is on `orchestration`, because the server hands an
 * activity straight back to the worker that asked for it only on the workflow's own queue. Where workers are split
 * (`WORKER_QUEUES`), each kind has a queue of its own and is scaled alone.
 */
export const QUEUES = ['orchestration', 'models', 'tools', 'webhooks'] as const;
export type TaskQueue = (typeof QUEUES)[number];

export interface QueueSettings {
  TASK_QUEUE_PREFIX: string;
  WORKER_QUEUES: readonly string[];
}

export const queueName = (settings: QueueSettings, queue: TaskQueue): string => settings.TASK_QUEUE_PREFIX + queue;

export const areQueuesSplit = (settings: QueueSettings): boolean => settings.WORKER_QUEUES.length > 0;
