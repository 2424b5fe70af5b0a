/** Everything that a workflow can wait for, played with the real service: how a wait begins, and what ends it. */
import type { Client } from '@temporalio/client';
import { phaseWorkflowId, projectWorkflowId } from '../../../src/resources/projects/model.ts';
import { deliveryWorkflowId } from '../../../src/resources/webhook-subscriptions/model.ts';
import { runWorkflowId } from '../../../src/resources/runs/model.ts';
import type { PhaseSpec, StepSpec } from '../../../src/resources/templates/model.ts';
import type { ExternalProvisioner } from '../../resources/workspaces/provisioner.ts';
import { hold } from './held.ts';
import {
  agentStep,
  attemptsAt,
  command,
  gateStep,
  makeTemplate,
  phaseSpec,
  startProject,
  stepOf,
  untilGate,
  untilProject,
  untilStep,
} from '../../support/fixtures/projects.ts';
import { childOf, dispatch, tool, untilStatus } from '../../support/fixtures/runs.ts';
import { sized } from '../../support/runner/sizes.ts';
import { eventually, type Tenant } from '../../support/service/service.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

export interface Stage {
  tenant: Tenant;
  client: Client;
  receiver: WebhookReceiver;
  /** A host, with its port, whose places are all held for so long. */
  fullHost: string;
  provisioner: ExternalProvisioner;
  /** How long each of them waits. */
  days: number;
  /** Answers the questions of this run, each when it has been asked for some days. */
  answerFor(runId: string): void;
}

/** A wait that has begun. */
export interface Waiting {
  /** Workflows that have nothing to do in the meantime. */
  quiet?: string[];
  /** Those that have nothing to do before such an event, which may come in the meantime. */
  quietUntil?: Record<string, 'timerFired' | 'childWorkflowExecutionCompleted' | 'workflowExecutionSignaled'>;
  /** One that may look for itself. */
  looking?: string;
  /** What was waited for comes, unless it has by itself. */
  goOn(): Promise<unknown>;
  /** Resolves when it has gone on to its end. */
  ended(): Promise<unknown>;
}

type Begin = (stage: Stage) => Promise<Waiting>;

/** A question may wait this long, so that who waits for longer asks again. */
const QUESTION_DAYS = 7;
/** A person takes this long for an answer. */
export const ANSWER_DAYS = 5;
const DAY_S = 86_400;
const TEN_YEARS_S = 10 * 365 * DAY_S;
const PATIENCE_MS = 180_000;
/** Longer than a model may take, so that it never answers: each attempt is ended in the middle, and there are five. */
const ENDLESS = '[[sleep:3600000]]';

const questions = (days: number): string =>
  Array.from({ length: Math.ceil(days / ANSWER_DAYS) }, (_, n) =>
    tool('ask_human', { question: `Question ${n}`, timeout_s: QUESTION_DAYS * DAY_S }),
  ).join('[[then]]');

/** A project of one phase, whose steps are these. */
async function begin(tenant: Tenant, name: string, steps: StepSpec[]): Promise<string> {
  const phases: PhaseSpec[] = [phaseSpec('text', steps)];
  await makeTemplate(tenant, name, phases);
  return startProject(tenant, name);
}
const workflowsOf = (id: string): string[] => [projectWorkflowId(id), phaseWorkflowId(id, 'text', 1)];
const untilCompleted = (tenant: Tenant, id: string) => untilProject(tenant, id, 'completed', PATIENCE_MS);

async function atGate(tenant: Tenant, name: string, gate: StepSpec): Promise<{ id: string; subtaskId: string }> {
  const id = await begin(tenant, name, [gate]);
  const { subtaskId } = await untilGate(tenant, id, 'text', 'gate');
  return { id, subtaskId };
}

/** A step whose agent asks people. */
async function untilAsking({ tenant, answerFor }: Stage, id: string): Promise<void> {
  await untilStep(tenant, id, 'text', 'ask', 'running');
  const runId = await eventually(async () => {
    const [attempt] = await attemptsAt(tenant, id, 'text', 'ask');
    if (!attempt?.child_run_id) throw new Error('it has no run yet');
    return attempt.child_run_id as string;
  });
  answerFor(runId);
}
const asking = (days: number, more: Partial<StepSpec> = {}): StepSpec =>
  agentStep('ask', { instructions: questions(days), tools: ['ask_human'], ...more });

/** The workflow of this type that waits for a workspace. */
const workflowOfType = (client: Client, type: string, customerId: string): Promise<string> =>
  eventually(async () => {
    const query = `WorkflowType = "${type}" AND ExecutionStatus = "Running"`;
    for await (const { workflowId } of client.workflow.list({ query })) {
      if (workflowId.includes(`workspace-${customerId}/`)) return workflowId;
    }
    throw new Error(`no ${type} of ${customerId} is under way`);
  });

const untilWorkspace = ({ cp }: Tenant, id: string, status: string): Promise<void> =>
  eventually(async () => {
    const { body } = await cp('GET', `/v1/workspaces/${id}`);
    if (body.status !== status) throw new Error(`${id} is ${body.status}: ${JSON.stringify(body)}`);
  }, PATIENCE_MS);

export const SCENES = {
  /** A run behind another one of its conversation: goes on at a signal, and looks for itself in case that was lost. */
  async conversation({ tenant }) {
    const first = await dispatch(tenant, { agent: 'assistant', prompt: ENDLESS, thread_id: 'long' });
    await untilStatus(tenant, first, 'running');
    const second = await dispatch(tenant, { agent: 'assistant', prompt: 'Hello', thread_id: 'long' });
    return {
      looking: runWorkflowId(second),
      goOn: () => tenant.cp('POST', `/v1/runs/${first}/cancel`),
      ended: () => untilStatus(tenant, second, 'succeeded', PATIENCE_MS),
    };
  },

  /** A run that waits for one that it has spawned, and which asks people again and again. */
  async question({ tenant, client, days, answerFor }) {
    await tenant.cp('POST', '/v1/agents', {
      slug: 'asker',
      model: 'offline',
      prompt: 'You ask.',
      allowed_tool_slugs: ['ask_human'],
    });
    const spawn = tool('spawn_run', { agent: 'asker', prompt: questions(days), wait: true });
    const parent = await dispatch(tenant, { agent: 'assistant', prompt: spawn });
    answerFor(await childOf(tenant, parent));
    await eventually(async () => {
      const { raw } = await client.workflow.getHandle(runWorkflowId(parent)).describe();
      if (!raw.pendingChildren?.some(({ runId }) => runId)) throw new Error('it does not wait for its child yet');
      if (raw.pendingActivities?.length) throw new Error('it still records that it waits');
    });
    return {
      quietUntil: { [runWorkflowId(parent)]: 'childWorkflowExecutionCompleted' },
      goOn: async () => {},
      ended: () => untilStatus(tenant, parent, 'succeeded', PATIENCE_MS),
    };
  },

  /** A run that waits for whoever finds out whether its call took effect, and looks for itself in case a signal was lost. */
  async lostEffect({ tenant, receiver }) {
    const agent = { slug: 'careful', model: 'offline', prompt: 'You post.', allowed_tool_slugs: ['http_request'] };
    await tenant.cp('POST', '/v1/agents', { ...agent, on_lost_effect: 'ask' });
    const post = tool('http_request', { method: 'POST', url: `http://${receiver.hostAndPort}/lost`, body: '{}' });
    const id = await dispatch(tenant, { agent: 'careful', prompt: post });
    const wait = await eventually(async () => {
      const { body } = await tenant.cp('GET', `/v1/inbox?run_id=${id}`);
      if (body.data.length === 0) throw new Error('nobody is asked yet');
      return body.data[0];
    });
    return {
      goOn: () => tenant.cp('POST', `/v1/inbox/${wait.id}/answer`, { answer: 'done', revision: wait.revision }),
      ended: () => untilStatus(tenant, id, 'succeeded', PATIENCE_MS),
    };
  },

  async humanGate({ tenant }) {
    const { id, subtaskId } = await atGate(tenant, 'human', gateStep('gate'));
    // Another project waits for this one.
    const other = await atGate(tenant, 'dependent', gateStep('gate', 'pipeline_dep', { project_id: id }));
    return {
      quiet: [...workflowsOf(id), ...workflowsOf(other.id)],
      goOn: () => command(tenant, id, `subtasks/${subtaskId}/resolve-gate`, { decision: 'approved' }),
      ended: () => Promise.all([id, other.id].map((each) => untilCompleted(tenant, each))),
    };
  },

  async webhookGate({ tenant, client }) {
    const config = { expires_in_s: TEN_YEARS_S };
    const { id, subtaskId: subtask_id } = await atGate(tenant, 'signalled', gateStep('gate', 'webhook', config));
    const project = client.workflow.getHandle(projectWorkflowId(id));
    return {
      quiet: workflowsOf(id),
      goOn: () => project.signal('resolveGate', { subtask_id, decision: 'approved', decided_by: 'a system' }),
      ended: () => untilCompleted(tenant, id),
    };
  },

  /** Nobody answers: the project is paused, for a person to decide. */
  async expiry({ tenant, days }) {
    const config = { expires_in_s: (days + 10) * DAY_S };
    const { id } = await atGate(tenant, 'expiring', gateStep('gate', 'webhook', config));
    return {
      quietUntil: { [phaseWorkflowId(id, 'text', 1)]: 'timerFired' },
      goOn: async () => {
        await untilProject(tenant, id, 'paused', PATIENCE_MS);
        await untilStep(tenant, id, 'text', 'gate', 'failed');
        await command(tenant, id, 'abandon');
      },
      ended: () => untilProject(tenant, id, 'abandoned', PATIENCE_MS),
    };
  },

  /** Nobody answers a gate of people, which time approves. */
  async timedGate({ tenant, days }) {
    const config = { due_in_s: (days + 10) * DAY_S, on_timeout: 'approve' };
    const { id } = await atGate(tenant, 'timed', gateStep('gate', 'human', config));
    return {
      quietUntil: { [phaseWorkflowId(id, 'text', 1)]: 'timerFired' },
      goOn: async () => {},
      ended: () => untilCompleted(tenant, id),
    };
  },

  async schedule({ tenant, days }) {
    const { id } = await atGate(tenant, 'scheduled', gateStep('gate', 'schedule', { delay_s: (days + 10) * DAY_S }));
    return {
      quietUntil: { [phaseWorkflowId(id, 'text', 1)]: 'timerFired' },
      goOn: async () => {},
      ended: () => untilCompleted(tenant, id),
    };
  },

  /** A step of a project whose run asks people. */
  async step(stage) {
    const { tenant, days } = stage;
    const id = await begin(tenant, 'asking', [asking(days)]);
    await untilAsking(stage, id);
    return {
      quietUntil: {
        // It is told that nobody is asked any more.
        [projectWorkflowId(id)]: 'workflowExecutionSignaled',
        [phaseWorkflowId(id, 'text', 1)]: 'childWorkflowExecutionCompleted',
      },
      goOn: async () => {},
      ended: () => untilCompleted(tenant, id),
    };
  },

  /** Paused in the middle of a phase. */
  async pause({ tenant }) {
    const slow = agentStep('write', { instructions: '[[sleep:3000]]' });
    const id = await begin(tenant, 'paused', [slow, agentStep('then')]);
    await untilStep(tenant, id, 'text', 'write', 'running');
    await command(tenant, id, 'pause');
    await untilStep(tenant, id, 'text', 'write', 'succeeded');
    return {
      quiet: workflowsOf(id),
      goOn: () => command(tenant, id, 'resume'),
      ended: () => untilCompleted(tenant, id),
    };
  },

  /** One step of a paused project, which whoever asked for it waits for. */
  async runStep(stage) {
    const { tenant, days } = stage;
    const slow = agentStep('write', { instructions: '[[sleep:3000]]' });
    const id = await begin(tenant, 'stepped', [slow, asking(days, { depends_on: ['write'] })]);
    await untilStep(tenant, id, 'text', 'write', 'running');
    await command(tenant, id, 'pause');
    await untilStep(tenant, id, 'text', 'write', 'succeeded');
    // Answered when the step has ended, or when the patience of the route has.
    const answered = command(tenant, id, 'run-step').catch(() => {});
    await untilAsking(stage, id);
    return {
      quietUntil: {
        [projectWorkflowId(id)]: 'workflowExecutionSignaled',
        [phaseWorkflowId(id, 'text', 1)]: 'childWorkflowExecutionCompleted',
      },
      async goOn() {
        await answered;
        await untilStep(tenant, id, 'text', 'ask', 'succeeded');
        if ((await stepOf(tenant, id, 'text', 'ask')).status === 'succeeded') await command(tenant, id, 'resume');
      },
      ended: () => untilCompleted(tenant, id),
    };
  },

  /** Deliveries to somebody who refuses nearly all attempts: an artifact, and the events of every run. */
  async delivery({ tenant, receiver }) {
    const events = await tenant.api('POST', '/v1/webhooks', {
      url: `http://${receiver.hostAndPort}/event`,
      events: ['*'],
    });
    const destination = await tenant.cp('POST', '/v1/output-destinations', {
      name: 'late',
      kind: 'webhook',
      config: { url: `http://${receiver.hostAndPort}/output`, secret: 'a secret of many characters' },
    });
    for (const { status, body } of [events, destination]) {
      if (status !== 201) throw new Error(`not made: ${JSON.stringify(body)}`);
    }
    await untilCompleted(tenant, await begin(tenant, 'shipping', [agentStep('write')]));
    const untilDelivered = (path: string) =>
      eventually(async () => {
        const { body } = await tenant.cp('GET', `${path}?limit=500`);
        const open = body.data.filter(({ status }: { status: string }) => status !== 'delivered');
        if (body.data.length === 0 || open.length > 0) throw new Error(`${path}: ${JSON.stringify(open[0])}`);
      }, PATIENCE_MS);
    return {
      goOn: async () => {},
      ended: () =>
        Promise.all(
          ['/v1/webhook-deliveries', '/v1/output-destinations/deliveries'].map((path) => untilDelivered(path)),
        ),
    };
  },

  /** A delivery to a host that has no place for it. */
  async place({ tenant, client, fullHost }) {
    const endpoint = await tenant.api('POST', '/v1/webhooks', {
      url: `http://${fullHost}/full`,
      events: ['project.completed'],
    });
    if (endpoint.status !== 201) throw new Error(`not made: ${JSON.stringify(endpoint.body)}`);
    await untilCompleted(tenant, await begin(tenant, 'announced', [agentStep('write')]));
    const firstDelivery = () =>
      eventually(async () => {
        const { body } = await tenant.cp('GET', '/v1/webhook-deliveries?limit=500');
        const made = body.data.findLast(({ endpoint_id }: { endpoint_id: number }) => endpoint_id === endpoint.body.id);
        if (!made) throw new Error('nothing is announced yet');
        return made as { id: string; status: string; attempt_count: number };
      });
    const executionsOf = async (id: string): Promise<number> => {
      let count = 0;
      for await (const _ of client.workflow.list({ query: `WorkflowId = "${id}"` })) count++;
      return count;
    };
    const { id } = await firstDelivery();
    return {
      goOn: async () => {},
      ended: () =>
        eventually(async () => {
          const { status, attempt_count } = await firstDelivery();
          if (status !== 'delivered') throw new Error(`it is ${status}`);
          if (attempt_count > 2) throw new Error(`a wait was taken for an attempt: ${attempt_count}`);
          if ((await executionsOf(deliveryWorkflowId(id))) < sized(1, 2)) throw new Error('it has not waited for long');
        }, PATIENCE_MS),
    };
  },

  /** Housekeeping waits for its next round, and what of it is over leaves the list. */
  async rounds({ client }) {
    const ended = async () => {
      const found: string[] = [];
      for await (const { status } of client.workflow.list({ query: 'WorkflowType = "housekeeper"' }))
        found.push(status.name);
      if (!found.includes('CONTINUED_AS_NEW') || found.length > 4) throw new Error(found.join());
    };
    return { goOn: async () => {}, ended: () => eventually(ended, PATIENCE_MS) };
  },

  /** Made by somebody who fails at first, and then takes very long. */
  async provisioning({ tenant, client, provisioner }) {
    let failures = 5;
    let isHeld = true;
    const reached = hold(provisioner, 'slow', ({ method, path }) => {
      if (!path.endsWith('/cache')) return undefined;
      if (method === 'PUT') return failures-- > 0 ? { status: 500 } : undefined;
      return isHeld ? { status: 200, body: { status: 'creating' } } : undefined;
    });
    await tenant.cp('POST', '/v1/workspaces', { identity_workspace_id: 'acc_slow', plan: 'free' });
    const workflowId = await workflowOfType(client, 'provisionWorkspace', 'slow');
    await reached;
    return {
      quiet: [workflowId],
      goOn: async () => void (isHeld = false),
      ended: () => untilWorkspace(tenant, 'acc_slow', 'ready'),
    };
  },

  async destruction({ tenant, client, provisioner }) {
    await tenant.cp('POST', '/v1/workspaces', { identity_workspace_id: 'acc_old', plan: 'free' });
    await untilWorkspace(tenant, 'acc_old', 'ready');
    let isHeld = true;
    const reached = hold(provisioner, 'old', ({ method, path }) =>
      isHeld && method === 'GET' && path.endsWith('/cache') ? { status: 200, body: { status: 'deleting' } } : undefined,
    );
    // Answers when it is archived, which nobody waits for that long.
    void tenant.cp('DELETE', '/v1/workspaces/acc_old').catch(() => {});
    const workflowId = await workflowOfType(client, 'destroyWorkspace', 'old');
    await reached;
    return {
      quiet: [workflowId],
      goOn: async () => void (isHeld = false),
      ended: () => untilWorkspace(tenant, 'acc_old', 'archived'),
    };
  },
} satisfies Record<string, Begin>;
