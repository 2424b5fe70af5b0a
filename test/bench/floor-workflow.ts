/** The least that can be called a durable run: three activities that do nothing, one after another. */
import { proxyActivities } from '@temporalio/workflow';
import type { FloorActivities } from './floor.ts';

const { load, act, record } = proxyActivities<FloorActivities>({ startToCloseTimeout: '1 minute' });

export async function bare(): Promise<void> {
  await load();
  await act();
  await record();
}
