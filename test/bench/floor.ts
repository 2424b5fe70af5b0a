/**
 * The bare floor, a process of its own: the smallest Express front over a Temporal workflow, everything at its default.
 * What the product is measured against; an improvement here would be no floor any more. Or the lean one: a workflow of one
 * activity, with its client on the worker's connection, so that both start on that worker at once.
 *
 * Arguments: host:port of Temporal, workflow bundle, `bare` or `lean`. Says its port over the IPC channel and ends with it.
 */
import { Client, Connection, type ConnectionLike } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import express from 'express';
import { randomUUID } from 'node:crypto';
import { take } from '../../src/platform/core/present.ts';
import { portOf } from '../support/processes/listening.ts';

const nothing = async (): Promise<void> => {};
const ask = async (baseUrl: string): Promise<void> => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'bare', messages: [] });
  await (await fetch(`${baseUrl}/chat/completions`, { method: 'POST', headers, body })).text();
};
const activities = { load: nothing, act: nothing, record: nothing, ask };
export type FloorActivities = typeof activities;

const [address, codePath, kind] = take(process.argv.slice(2), 3);
process.on('disconnect', () => process.exit());

const taskQueue = 'bare';
const native = await NativeConnection.connect({ address: address });
const worker = await Worker.create({
  connection: native,
  taskQueue,
  workflowBundle: { codePath: codePath },
  activities,
});
const isLean = kind === 'lean';
const connection: ConnectionLike = isLean ? native : await Connection.connect({ address: address });
const { workflow } = new Client({ connection });

const app = express();
app.post('/runs', async (_request, response) => {
  const workflowId = randomUUID();
  await workflow.start(kind, { workflowId, taskQueue, ...(isLean && { requestEagerStart: true }) });
  response.status(201).json({ id: workflowId });
});
app.post('/chains/:length', async (request, response) => {
  const workflowId = randomUUID();
  await workflow.start('bareChain', { workflowId, taskQueue, args: [Number(request.params.length)] });
  response.status(201).json({ id: workflowId });
});
app.post('/turns/:count', async (request, response) => {
  const workflowId = randomUUID();
  const args = [Number(request.params.count), String(request.query.ask)];
  await workflow.start('bareTurns', { workflowId, taskQueue, args });
  response.status(201).json({ id: workflowId });
});
const server = app.listen(0, '127.0.0.1', () => process.send?.(portOf(server)));
// The worker ends on SIGTERM; the server beside it would not.
await worker.run();
process.exit();
