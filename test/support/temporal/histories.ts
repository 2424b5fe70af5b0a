/** What an operator reads in Temporal: every history of one test file's workflows, as text. */
import type { Temporal } from '../../../src/platform/temporal/client.ts';

/** @param queuePrefix of the file's task queues */
export async function readHistories({ client }: Temporal, queuePrefix: string): Promise<Map<string, string>> {
  const histories = new Map<string, string>();
  const query = `TaskQueue STARTS_WITH "${queuePrefix}"`;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    // One that was started again has a history of each of its runs.
    histories.set(workflowId, [histories.get(workflowId), ...textsIn(history)].join('\n'));
  }
  return histories;
}

/** Payloads are bytes, and what they say is JSON. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (ArrayBuffer.isView(value))
    yield Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
  else if (value !== null && typeof value === 'object') for (const child of Object.values(value)) yield* textsIn(child);
}
