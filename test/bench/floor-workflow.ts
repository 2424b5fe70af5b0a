/** The least that can be called a durable run: three activities that do nothing, one after another. */
import { executeChild, proxyActivities } from '@temporalio/workflow';
import type { FloorActivities } from './floor.ts';

const { load, act, record, ask } = proxyActivities<FloorActivities>({ startToCloseTimeout: '1 minute' });

export async function bare(): Promise<void> {
  await load();
  await act();
  await record();
}

/** The least that can be called a durable pipeline: such runs as children, one after another. */
export async function bareChain(length: number): Promise<void> {
  for (let i = 0; i < length; i++) await executeChild(bare);
}

/** The least that records anything: one activity that does nothing. */
export async function lean(): Promise<void> {
  await act();
}

/** The least that can be called a run of so many turns: as many activities that ask a provider. */
export async function bareTurns(count: number, baseUrl: string): Promise<void> {
  for (let i = 0; i < count; i++) await ask(baseUrl);
}
