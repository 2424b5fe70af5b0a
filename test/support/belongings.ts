/**
 * One of each thing that a workspace can own, made through the API. Every text in it carries the workspace's mark, so
 * that a search for the mark finds whatever of it shows up elsewhere. Another kind of thing is another line here.
 */
import sharp from 'sharp';
import { newRunId, newUuid } from '../../src/platform/core/ids.ts';
import { insertOutputs } from '../../src/resources/output-destinations/store.ts';
import { endpoints } from './endpoints.ts';
import { confirmed } from './otp.ts';
import { send } from './send.ts';
import { eventually, type Tenant, type TestService } from './service.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** By the words that examples use for them. */
export interface Belongings {
  memberId: string;
  workspaceId: string;
  apiKeyId: number;
  agentSlug: string;
  runId: string;
  /** Of a chat; what was said in it is the run. */
  threadId: string;
  webhookId: number;
  deliveryId: string;
  templateSlug: string;
  /** Waits for a person at its second phase. */
  projectId: string;
  phaseSlug: string;
  taskId: string;
  /** The gate. */
  subtaskId: string;
  /** An edit session of the project, its plan not yet decided on. */
  editTaskId: string;
  attachmentId: string;
  destinationId: string;
  /** Of an artifact of the project. */
  outputDeliveryId: string;
  runArtifactId: string;
  jobId: string;
  heartbeatId: string;
  toolSlug: string;
  skillSlug: string;
  entryId: number;
  /** Another one, for what deletes it. */
  spareEntryId: number;
}

/** Well-formed, and nobody's. */
export const NOBODYS: Belongings = {
  memberId: newUuid(),
  workspaceId: 'acc_nobodys',
  apiKeyId: 2_000_000_001,
  agentSlug: 'nobodys-agent',
  runId: newRunId(),
  threadId: newUuid(),
  webhookId: 2_000_000_001,
  deliveryId: newUuid(),
  templateSlug: 'nobodys-workflow',
  projectId: 'nobodys-project-000000',
  phaseSlug: 'nobodys-phase',
  taskId: newUuid(),
  subtaskId: newUuid(),
  editTaskId: newUuid(),
  attachmentId: newUuid(),
  destinationId: newUuid(),
  outputDeliveryId: newUuid(),
  runArtifactId: newUuid(),
  jobId: 'custom-2000000001',
  heartbeatId: newUuid(),
  toolSlug: 'nobodys-tool',
  skillSlug: 'nobodys-skill',
  entryId: 2_000_000_001,
  spareEntryId: 2_000_000_003,
};

export const picture = async (): Promise<Uint8Array<ArrayBuffer>> => {
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background: '#a33' } });
  return new Uint8Array(await image.png().toBuffer());
};

/** A reference file for a project. */
export const attachmentForm = (mark: string): FormData => {
  const form = new FormData();
  form.append('files', new Blob([`${mark} attached`]), `${mark}.txt`);
  return form;
};

/** A step by this agent, then a gate. */
export const workflowOf = (agent: string, slug: string, mark: string) => ({
  slug,
  version: 1,
  title: `${mark} title`,
  phases: [
    {
      slug: 'draft',
      title: `${mark} phase`,
      steps: [{ step_slug: 'write', kind: 'agent', role: 'producer', assignee: agent, tools: ['save_artifact'] }],
    },
    {
      slug: 'release',
      title: `${mark} release`,
      depends_on: ['draft'],
      steps: [{ step_slug: 'approve', kind: 'gate', role: 'gatekeeper', gate_kind: 'human' }],
    },
  ],
});

/** @param mark lower-case letters, digits and dashes: it becomes part of a slug too */
export async function makeBelongings(
  service: TestService,
  tenant: Tenant,
  receiver: WebhookReceiver,
  mark: string,
): Promise<Belongings> {
  const made = async (answer: ReturnType<Tenant['cp']>) => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`not made: ${status} ${JSON.stringify(body)}`);
    return body;
  };
  const { workspaceId } = tenant.caller;
  const newMember = { email: `${mark}@members.example`, role: 'member' };
  const { id: memberId } = await made(tenant.cp('POST', `/v1/workspaces/${workspaceId}/members`, newMember));
  const { id: apiKeyId } = await made(tenant.cp('POST', '/v1/api-keys', { name: `${mark} key` }));
  // Without a host there is no server to ask about the password.
  await made(confirmed(tenant, 'PUT', '/v1/integrations/smtp/credentials/password', { value: `${mark} password` }));
  await made(confirmed(tenant, 'PUT', '/v1/integrations/smtp/secrets/mail.from', { value: `${mark} sender` }));
  const toolSlug = `${mark}-tool`;
  await made(
    tenant.cp('POST', '/v1/tools', {
      slug: toolSlug,
      description: `${mark} tool`,
      kind: 'stub',
      schema: { type: 'object', properties: { text: { type: 'string' } } },
      body: { result: `${mark} result` },
    }),
  );
  const skillSlug = `${mark}-skill`;
  await made(
    tenant.cp('POST', '/v1/skills', {
      slug: skillSlug,
      name: `${mark} skill`,
      description: `${mark} use`,
      category: `${mark} category`,
      // Slugs that every workspace has: each links to its own.
      prompt_addendum: `${mark} body [[${toolSlug}]] [[common]] [[writing-style]]`,
      agents: [`${mark}-agent`],
    }),
  );
  const agentSlug = `${mark}-agent`;
  await made(
    tenant.cp('POST', '/v1/agents', {
      slug: agentSlug,
      model: 'offline',
      prompt: `${mark} prompt`,
      description: `${mark} description`,
      allowed_tool_slugs: ['save_artifact', 'spawn_run', toolSlug],
      default_workspace: `${mark} workspace`,
    }),
  );
  await made(tenant.cp('PATCH', `/v1/agents/${agentSlug}/voice`, { voice: `${mark} voice` }));
  const putAvatar = endpoints.find(({ id }) => id === 'agents.putAvatar')!;
  await made(send(service, tenant, putAvatar, { params: { slug: agentSlug }, file: await picture() }));
  const { id: webhookId } = await made(
    tenant.api('POST', '/v1/webhooks', { url: `${receiver.url}/${mark}`, description: `${mark} webhook` }),
  );
  const templateSlug = `${mark}-workflow`;
  await made(
    tenant.cp('POST', '/v1/workflows', {
      spec: workflowOf(agentSlug, templateSlug, mark),
      collection: `${mark} collection`,
      tags: [templateSlug],
    }),
  );

  const { id: threadId } = await made(
    tenant.cp('POST', '/v1/chat/threads', { title: `${mark} thread`, agent: agentSlug }),
  );
  const file = JSON.stringify({ filename: `${mark}.md`, content: `${mark} content` });
  const prompt = `${mark} question [[tool:save_artifact ${file}]] [[tool:${toolSlug} {"text":"${mark} argument"}]] [[tool:load_skill {"slug":"${skillSlug}"}]]`;
  const { run_id: runId, status } = await tenant.run({ agent: agentSlug, prompt, thread_id: threadId });
  if (status !== 'succeeded') throw new Error(`the run ${status}`);
  const { data: saved } = await made(tenant.cp('GET', `/v1/run-artifacts?run_id=${runId}`));
  const runArtifactId: string = saved[0].id;
  const deliveryId = await eventually(async () => {
    const { body } = await tenant.cp('GET', '/v1/webhook-deliveries');
    const [delivery] = body.data as { id: string; status: string }[];
    if (delivery?.status !== 'delivered') throw new Error('not delivered yet');
    return delivery.id;
  });
  const project = await makeProject(tenant, made, templateSlug, mark);
  const attached = await made(tenant.cp('POST', `/v1/projects/${project.projectId}/attachments`, attachmentForm(mark)));
  const attachmentId: string = attached.data[0].id;
  await made(tenant.cp('POST', `/v1/chat/threads/${threadId}/attachments`, attachmentForm(mark)));
  const outputs = await makeOutputs(service, tenant, made, project.projectId, `${receiver.url}/${mark}/output`, mark);
  const { id: jobId } = await made(
    tenant.cp('POST', '/v1/scheduled-jobs', {
      name: `${mark} job`,
      cron: '0 6 1 1 *',
      agent_slug: agentSlug,
      brief: `${mark} brief`,
    }),
  );
  await made(tenant.cp('POST', `/v1/scheduled-jobs/${jobId}/attachments`, attachmentForm(mark)));
  const { id: heartbeatId } = await made(
    tenant.cp('POST', '/v1/heartbeats', {
      name: `${mark} heartbeat`,
      agent_slug: agentSlug,
      prompt: `${mark} prompt`,
      interval_s: 1_000_000,
    }),
  );
  const entries = await makeEntries(tenant, made, agentSlug, mark);
  return {
    workspaceId: tenant.caller.workspaceId,
    memberId,
    apiKeyId,
    agentSlug,
    runId,
    threadId,
    webhookId,
    deliveryId,
    templateSlug,
    attachmentId,
    toolSlug,
    skillSlug,
    ...project,
    ...outputs,
    ...entries,
    jobId,
    heartbeatId,
    runArtifactId,
  };
}

/** A destination, with what it is sent when the project completes: it stands still, so that is done in its place. */
async function makeOutputs(
  { runtime, services }: TestService,
  tenant: Tenant,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the body of whatever was made
  made: (answer: ReturnType<Tenant['cp']>) => Promise<any>,
  projectId: string,
  url: string,
  mark: string,
): Promise<Pick<Belongings, 'destinationId' | 'outputDeliveryId'>> {
  const config = { url, secret: `${mark} signing secret` };
  const destination = { name: `${mark} destination`, kind: 'webhook', config };
  const { id: destinationId } = await made(tenant.cp('POST', '/v1/output-destinations', destination));
  const ids = await insertOutputs(runtime.db, { id: projectId, customerId: tenant.caller.customerId });
  await services.destinations.startRecorded(ids);
  await eventually(async () => {
    const { data } = await made(tenant.cp('GET', '/v1/output-destinations/deliveries?status=delivered'));
    if (data.length !== ids.length) throw new Error('not delivered yet');
  });
  return { destinationId, outputDeliveryId: ids[0]! };
}

/** Two that link to each other. */
async function makeEntries(
  tenant: Tenant,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the body of whatever was made
  made: (answer: ReturnType<Tenant['cp']>) => Promise<any>,
  agent: string,
  mark: string,
): Promise<Pick<Belongings, 'entryId' | 'spareEntryId'>> {
  const keep = (slug: string, other: string) =>
    made(
      tenant.cp('POST', '/v1/memory/entries', {
        type: `${mark} type`,
        slug,
        agent,
        scope: `${mark} scope`,
        name: `${mark} name`,
        description: `${mark} summary`,
        content: `${mark} memory [[${other}]] [[${mark}-nowhere]] [[common]]`,
        meta: { [`${mark} key`]: `${mark} value` },
      }),
    );
  const { id: entryId } = await keep(`${mark}-entry`, `${mark}-spare`);
  const { id: spareEntryId } = await keep(`${mark}-spare`, `${mark}-entry`);
  // A slug that every workspace links to: each to its own.
  await made(tenant.cp('POST', '/v1/memory/entries', { type: 'note', slug: 'common', content: `${mark} common` }));
  return { entryId, spareEntryId };
}

type ProjectBelongings = Pick<Belongings, 'projectId' | 'phaseSlug' | 'taskId' | 'subtaskId' | 'editTaskId'>;

/** Both its gate and that of its edit session are reached: from then on it stands still. */
async function makeProject(
  tenant: Tenant,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the body of whatever was made
  made: (answer: ReturnType<Tenant['cp']>) => Promise<any>,
  templateSlug: string,
  mark: string,
): Promise<ProjectBelongings> {
  const asked = { workflow_slug: templateSlug, title: `${mark} project`, brief: `${mark} brief` };
  // Whatever provider the service has been given.
  await made(tenant.cp('PATCH', '/v1/agents/planner/model', { model: 'offline' }));
  const { id: projectId } = await made(tenant.cp('POST', '/v1/projects', asked));
  const path = `/v1/projects/${projectId}`;
  const waiting = (phaseSlug: string) =>
    eventually(async () => {
      const tasks: { id: string; phase_slug: string }[] = (await made(tenant.cp('GET', `${path}/tasks`))).data;
      const { id: taskId } = tasks.find(({ phase_slug }) => phase_slug === phaseSlug)!;
      const { data } = await made(tenant.cp('GET', `${path}/tasks/${taskId}/subtasks`));
      const gate = (data as { id: string; status: string }[]).find(({ status }) => status === 'blocked');
      if (!gate) throw new Error(`no gate of ${phaseSlug} is reached yet`);
      return { taskId, subtaskId: gate.id };
    });
  const gate = await waiting('release');
  const { task_id: editTaskId } = await made(
    tenant.cp('POST', `${path}/edit-sessions`, { instruction: `${mark} instruction` }),
  );
  await waiting('edit-session-1');
  return { projectId, phaseSlug: 'draft', ...gate, editTaskId };
}
