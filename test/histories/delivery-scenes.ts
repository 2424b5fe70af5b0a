/** Histories of deliveries: of events to webhooks, and of artifacts to where they are sent. */
import { outputWorkflowId } from '../../src/resources/output-destinations/model.ts';
import { deliveryWorkflowId } from '../../src/resources/webhook-subscriptions/model.ts';
import { agentStep, makeTemplate, phaseSpec, startProject } from '../support/fixtures/projects.ts';
import { eventually, type TestService } from '../support/service/service.ts';
import { type WebhookReceiver } from '../support/fakes/webhook-receiver.ts';
import { CANARY, type Scene } from './scene.ts';

export async function deliveries({ service, tenant, receiver, dispatch, keep }: Scene): Promise<void> {
  const deliver = async (name: string, path: string, status: string, meanwhile = async () => {}) => {
    const hook = await tenant.api('POST', '/v1/webhooks', {
      url: `http://${receiver.hostAndPort}/${path}`,
      events: ['*'],
    });
    await dispatch('Hello');
    await meanwhile();
    const id = await eventually(async () => {
      const { body } = await tenant.cp('GET', `/v1/webhook-deliveries?status=${status}`);
      const ofHook = body.data.filter((row: { endpoint_id: number }) => row.endpoint_id === hook.body.id);
      if (ofHook.length !== 1) throw new Error(`no delivery is ${status} yet`);
      return ofHook[0].id as string;
    });
    await tenant.api('DELETE', `/v1/webhooks/${hook.body.id}`);
    await keep(name, deliveryWorkflowId(id));
  };
  await deliver('webhook-delivered', '200', 'delivered');
  await deliver('webhook-failed', '404', 'failed');
  await deliver('webhook-exhausted', '500', 'exhausted');
  const free = await fullHost(service, receiver);
  await deliver('webhook-waited', '200', 'delivered', () => free('webhookDelivery'));
}

/** Takes all places that a host has. @returns what gives them back, once an execution of this type has waited for one */
async function fullHost({ services, runtime }: TestService, { hostAndPort: host }: WebhookReceiver) {
  const { places } = services;
  const take = (n: number) =>
    places.take({ host, customerId: `neighbour-${n}`, holder: `neighbour-${n}`, forMs: 60_000 });
  let taken = 0;
  while ((await take(taken)) === undefined) taken++;
  return async (workflowType: string): Promise<void> => {
    const query = `WorkflowType = "${workflowType}" AND ExecutionStatus = "Running"`;
    await eventually(async () => {
      for await (const { workflowId } of runtime.temporal.client.workflow.list({ query })) {
        const { events } = await runtime.temporal.client.workflow.getHandle(workflowId).fetchHistory();
        if (events?.some(({ timerFiredEventAttributes: fired }) => fired)) return;
      }
      throw new Error(`no ${workflowType} has waited yet`);
    });
    for (let n = 0; n < taken; n++) await places.giveBack({ host, holder: `neighbour-${n}` }, 10);
  };
}

export async function outputs({ service, tenant, receiver, keep }: Scene): Promise<void> {
  await makeTemplate(tenant, 'output', [phaseSpec('text', [agentStep('write')])]);
  const deliver = async (name: string, path: string, status: string, meanwhile = async () => {}) => {
    const { body: destination } = await tenant.cp('POST', '/v1/output-destinations', {
      name,
      kind: 'webhook',
      config: { url: `http://${receiver.hostAndPort}/${path}`, secret: `${CANARY} secret` },
    });
    await startProject(tenant, 'output', { brief: `${CANARY} Tell the story of bread.` });
    await meanwhile();
    const deliveryId = await eventually(async () => {
      const query = `status=${status}&destination_id=${destination.id}`;
      const { body } = await tenant.cp('GET', `/v1/output-destinations/deliveries?${query}`);
      // The dropped one is to be waiting for its next attempt, which takes longer after each.
      if (body.data.length !== 1 || (status === 'pending' && body.data[0].attempts < 6))
        throw new Error(`no output is ${status} yet`);
      return body.data[0].id as string;
    });
    await tenant.cp('DELETE', `/v1/output-destinations/${destination.id}`);
    await keep(name, outputWorkflowId({ deliveryId, redelivery: 0 }));
  };
  await deliver('output-delivered', '200', 'delivered');
  await deliver('output-refused', '404', 'failed');
  await deliver('output-exhausted', '500', 'failed');
  await deliver('output-dropped', 'reset', 'pending');
  const free = await fullHost(service, receiver);
  await deliver('output-waited', '200', 'delivered', () => free('outputDelivery'));
}
