/**
 * The bare floor, a process of its own: the smallest Express front over a Temporal workflow, everything at its default.
 * What the product is measured against; an improvement here would be no floor any more.
 *
 * Arguments: host:port of Temporal, workflow bundle. Says its port over the IPC channel and ends with it.
 */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import express from 'express';
import { randomUUID } from 'node:crypto';
import { take } from '../../src/platform/core/present.ts';
import { portOf } from '../support/processes/listening.ts';

const nothing = async (): Promise<void> => {};
const activities = { load: nothing, act: nothing, record: nothing };
export type FloorActivities = typeof activities;

const [address, codePath] = take(process.argv.slice(2), 2);
process.on('disconnect', () => process.exit());

const taskQueue = 'bare';
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: address }),
  taskQueue,
  workflowBundle: { codePath: codePath },
  activities,
});
const { workflow } = new Client({ connection: await Connection.connect({ address: address }) });

const app = express();
app.post('/runs', async (_request, response) => {
  const workflowId = randomUUID();
  await workflow.start('bare', { workflowId, taskQueue });
  response.status(201).json({ id: workflowId });
});
app.post('/chains/:length', async (request, response) => {
  const workflowId = randomUUID();
  await workflow.start('bareChain', { workflowId, taskQueue, args: [Number(request.params.length)] });
  response.status(201).json({ id: workflowId });
});
const server = app.listen(0, '127.0.0.1', () => process.send?.(portOf(server)));
// The worker ends on SIGTERM; the server beside it would not.
await worker.run();
process.exit();
