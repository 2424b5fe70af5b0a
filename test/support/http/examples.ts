/**
 * How to ask each endpoint for something that a workspace owns. Every endpoint that takes anything of the caller needs
 * its line: the tenancy test asks it as another workspace, and fails for an endpoint without one.
 */
import { attachmentForm, NOBODYS, picture, workflowOf, type Belongings } from '../fixtures/belongings.ts';
import type { RequestParts } from './send.ts';

/** Whatever can be named, in the path, the query or the body, comes from `of`. */
export type Example = (of: Belongings) => RequestParts | Promise<RequestParts>;

const workspace = ({ workspaceId }: Belongings) => ({ params: { identity_workspace_id: workspaceId } });
const exported = ({ workspaceId, exportId }: Belongings) => ({
  params: { identity_workspace_id: workspaceId, export_id: exportId },
});
const agent: Example = ({ agentSlug }) => ({ params: { slug: agentSlug } });
const run: Example = ({ runId }) => ({ params: { run_id: runId } });
const memberOf = ({ workspaceId, memberId }: Belongings) => ({ id: workspaceId, member_id: memberId });
const webhook: Example = ({ webhookId }) => ({ params: { id: webhookId } });
const job: Example = ({ jobId }) => ({ params: { job_id: jobId } });
const heartbeat: Example = ({ heartbeatId }) => ({ params: { id: heartbeatId } });
const skill: Example = ({ skillSlug }) => ({ params: { slug: skillSlug } });
const tool: Example = ({ toolSlug }) => ({ params: { slug: toolSlug } });
const template: Example = ({ templateSlug }) => ({ params: { slug: templateSlug } });
const templateChange: Example = ({ templateSlug }) => ({
  params: { slug: templateSlug },
  body: { description: 'changed' },
});
const newTemplate: Example = () => ({ body: { spec: workflowOf('writer', 'another', 'another') } });
const taggedTemplates: Example = ({ templateSlug }) => ({ query: { tag: templateSlug } });
const project = ({ projectId }: Belongings) => ({ params: { project_id: projectId } });
const task: Example = ({ projectId, taskId }) => ({ params: { project_id: projectId, task_id: taskId } });
const subtask: Example = ({ projectId, subtaskId }) => ({ params: { project_id: projectId, subtask_id: subtaskId } });
const newProject: Example = () => ({ body: { workflow_slug: 'blog-post', title: 'Another', brief: 'Say something.' } });
const phaseOf = ({ projectId, phaseSlug }: Belongings) => ({ project_id: projectId, phase_slug: phaseSlug });
const entry = ({ entryId }: Belongings) => ({ params: { entry_id: entryId } });
const runOfAgent: Example = ({ agentSlug }) => ({ body: { agent: agentSlug, prompt: 'Say something.' } });

/** Their addresses name entries of a catalogue that is the same for everybody; what is in them is the workspace's. */
export const SAME_FOR_ALL: readonly string[] = [
  'integrations.get',
  'integrations.setCredential',
  'integrations.deleteCredential',
  'integrations.setSecret',
  'integrations.deleteSecret',
  // The operator's, of the deployment.
  'workspaces.setState',
  'feature-flags.put',
  'feature-flags.delete',
  'crm-admin.get',
  'crm-admin.update',
  'crm-admin.notes',
  'crm-admin.createNote',
  'crm-admin.deleteNote',
];
const ANOTHER_MANIFEST = { kind: 'agent', content: { slug: 'from-a-file', prompt: 'You are another one.' } };
const thread = ({ threadId }: Belongings) => ({ params: { id: threadId } });
const destination = ({ destinationId }: Belongings) => ({ params: { id: destinationId } });
const customerOf = { params: { customer_id: 'nobodys-customer' } };
const customer: Example = () => customerOf;
const password = { slug: 'smtp', kind: 'password' };
const sender = { slug: 'smtp', dotted: 'mail.from' };

export const EXAMPLES: Readonly<Record<string, Example>> = {
  'workspaces.create': () => ({ body: { identity_workspace_id: 'acc_another', plan: 'free' } }),
  'workspaces.get': workspace,
  'workspaces.retry': workspace,
  'workspaces.setState': () => ({ ...workspace(NOBODYS), body: { status: 'ready' } }),
  'workspaces.destroy': workspace,
  'exports.create': workspace,
  'exports.list': workspace,
  'exports.get': exported,
  'exports.download': exported,
  'exports.remove': exported,

  'api-keys.create': () => ({ body: { name: 'another' } }),
  'api-keys.revoke': ({ apiKeyId }) => ({ params: { id: apiKeyId } }),

  'billing.subscribe': () => ({ body: { billing_plan_id: 'plan_starter' } }),
  'billing.wallet': () => ({ query: { limit: 10 } }),
  'billing.topup': () => ({ body: { amount_usd_cents: 1_000 } }),
  'billing.setModelRouter': () => ({ body: { enabled: true } }),
  'billing.webhook': () => ({ body: { id: 'evt_unsigned' } }),

  'members.list': ({ workspaceId }) => ({ params: { id: workspaceId } }),
  'members.add': ({ workspaceId }) => ({ params: { id: workspaceId }, body: { email: 'another@members.example' } }),
  'members.update': (of) => ({ params: memberOf(of), body: { role: 'admin' } }),
  'members.remove': (of) => ({ params: memberOf(of) }),

  'agents.create': () => ({ body: { slug: 'another', model: 'auto', prompt: 'You help.' } }),
  'agents.detail': agent,
  'agents.update': ({ agentSlug }) => ({ params: { slug: agentSlug }, body: { description: 'changed' } }),
  'agents.setModel': ({ agentSlug }) => ({ params: { slug: agentSlug }, body: { model: 'claude-haiku-4-5' } }),
  'agents.setVoice': ({ agentSlug }) => ({ params: { slug: agentSlug }, body: { voice: 'changed' } }),
  'agents.delete': agent,
  'agents.getAvatar': agent,
  'agents.putAvatar': async ({ agentSlug }) => ({ params: { slug: agentSlug }, file: await picture() }),
  'agents.deleteAvatar': agent,

  'runs.dispatch': runOfAgent,
  'runs.create': runOfAgent,
  'runs.get': run,
  'runs.list': ({ agentSlug }) => ({ query: { agent: agentSlug } }),
  'runs.events': run,
  'runs.detail': run,
  'runs.cancel': run,
  'runs.retry': run,
  'runs.costs': () => ({ query: { window: '24h' } }),
  'runs.context': run,
  'runs.contextContent': run,
  'runs.search': ({ runId }) => ({ query: { q: runId } }),
  'runs.counts': ({ agentSlug }) => ({ query: { agent: agentSlug } }),
  'runs.failures': () => ({ query: { since_hours: 720 } }),
  'runs.show': run,
  'runs.timeline': run,
  'runs.transcript': run,

  'templates.list': taggedTemplates,
  'templates.get': template,
  'templates.versions': template,
  'templates.create': newTemplate,
  'templates.update': templateChange,
  'templates.delete': template,
  'templates-alias.list': taggedTemplates,
  'templates-alias.get': template,
  'templates-alias.versions': template,
  'templates-alias.create': newTemplate,
  'templates-alias.update': templateChange,
  'templates-alias.delete': template,

  'projects.start': newProject,
  'projects.status': project,
  'projects.create': newProject,
  'projects.update': ({ projectId }) => ({ params: { project_id: projectId }, body: { title: 'changed' } }),
  'projects.list': ({ templateSlug }) => ({ query: { workflow_slug: templateSlug } }),
  'projects.get': project,
  'projects.tasks': project,
  'projects.task': task,
  'projects.subtasks': task,
  'projects.subtask': ({ projectId, taskId, subtaskId }) => ({
    params: { project_id: projectId, task_id: taskId, subtask_id: subtaskId },
  }),
  'projects.attempts': subtask,
  'projects.events': project,
  'projects.subtaskEvents': subtask,
  'projects.artifacts': project,
  'projects.artifact': ({ projectId, artifactId }) => ({ params: { project_id: projectId, artifact_id: artifactId } }),
  'projects.cost': project,
  'projects.criticalPath': project,
  'projects.estimate': ({ projectId }) => ({ params: { project_id: projectId }, query: { of: 'resume' } }),
  'projects.pause': project,
  'projects.resume': project,
  'projects.abandon': project,
  'projects.runStep': project,
  'projects.retrySubtask': subtask,
  'projects.resolveGate': ({ projectId, subtaskId }) => ({
    params: { project_id: projectId, subtask_id: subtaskId },
    body: { decision: 'approved' },
  }),
  'projects.retrigger': (of) => ({ params: phaseOf(of), body: { cascade: 'none' } }),
  'projects.revertArtifact': (of) => ({ params: phaseOf(of), body: { target_version: 1 } }),
  'projects.startEditSession': ({ projectId }) => ({
    params: { project_id: projectId },
    body: { instruction: 'Shorter.' },
  }),
  'projects.resolveEditPlan': ({ projectId, editTaskId }) => ({
    params: { project_id: projectId, task_id: editTaskId },
    body: { decision: 'rejected' },
  }),
  'run-artifacts.list': ({ runId }) => ({ query: { run_id: runId } }),
  'run-artifacts.get': ({ runArtifactId }) => ({ params: { id: runArtifactId } }),
  'search.find': ({ runId, agentSlug }) => ({ query: { q: runId, agent: agentSlug } }),
  'cost.rollup': () => ({ query: { group_by: 'project' } }),
  'cost.setCap': ({ agentSlug }) => ({ params: { cap_id: `agent.${agentSlug}.month` }, body: { limit_usd: '5' } }),
  'cost.removeCap': ({ agentSlug }) => ({ params: { cap_id: `agent.${agentSlug}.month` } }),
  'customers.list': () => ({ query: { q: 'a' } }),
  'live.follow': ({ runId }) => ({ query: { run_id: runId, after: '0' } }),
  'events.list': () => ({ query: { since_hours: 1 } }),
  'inbox.list': ({ projectId }) => ({ query: { project_id: projectId, status: 'settled' } }),
  'inbox.get': ({ waitId }) => ({ params: { wait_id: waitId } }),
  'inbox.answer': ({ waitId }) => ({ params: { wait_id: waitId }, body: { answer: 'approve', revision: 1 } }),
  'inbox.remind': ({ waitId }) => ({ params: { wait_id: waitId } }),
  'inbox.withdrawLinks': ({ waitId }) => ({ params: { wait_id: waitId } }),
  'inbox.delegate': ({ waitId }) => ({
    params: { wait_id: waitId },
    body: { to: 'deputy@example.com', until: new Date(Date.now() + 3_600_000).toISOString() },
  }),
  'webhook-gates.list': () => ({ query: { status: 'blocked' } }),

  'audit-log.list': () => ({ query: { action: 'api-keys.create', limit: 5 } }),
  'attachments.list': project,
  'attachments.upload': ({ projectId }) => ({
    params: { project_id: projectId },
    body: attachmentForm('another'),
  }),
  'attachments.prepare': () => ({ body: attachmentForm('another') }),
  'files.download': ({ attachmentId }) => ({ query: { id: attachmentId } }),

  // The agent is looked up when the time comes, in the job's own workspace.
  'scheduled-jobs.create': () => ({
    body: { name: 'another', cron: '0 6 1 1 *', agent_slug: 'assistant', brief: 'Say something.' },
  }),
  'scheduled-jobs.update': ({ jobId }) => ({ params: { job_id: jobId }, body: { enabled: false } }),
  'scheduled-jobs.delete': job,
  'scheduled-jobs.listAttachments': job,
  'scheduled-jobs.uploadAttachments': ({ jobId }) => ({ params: { job_id: jobId }, body: attachmentForm('another') }),
  'heartbeats.create': () => ({
    body: { name: 'another', agent_slug: 'assistant', prompt: 'Say something.', interval_s: 1_000_000 },
  }),
  'heartbeats.get': heartbeat,
  'heartbeats.update': ({ heartbeatId }) => ({ params: { id: heartbeatId }, body: { enabled: false } }),
  'heartbeats.delete': heartbeat,
  'integrations.get': () => ({ params: { slug: 'smtp' } }),
  'integrations.setCredential': () => ({ params: password, body: { value: 'another' } }),
  'integrations.deleteCredential': () => ({ params: password }),
  'integrations.setSecret': () => ({ params: sender, body: { value: 'another' } }),
  'integrations.deleteSecret': () => ({ params: sender }),

  'memory.list': ({ agentSlug }) => ({ query: { agent: agentSlug, q: 'memory' } }),
  'memory.graph': ({ agentSlug }) => ({ query: { agent: agentSlug } }),
  'memory.get': entry,
  'memory.create': () => ({ body: { type: 'note', content: 'Another one.' } }),
  'memory.links': entry,
  'memory.verify': entry,
  'memory.update': (of) => ({ ...entry(of), body: { content: 'Changed.' } }),
  'memory.supersede': (of) => ({ ...entry(of), body: { content: 'Better known.' } }),
  'memory.bulkDelete': ({ spareEntryId }) => ({ body: { ids: [spareEntryId] } }),
  'memory.delete': entry,

  'skills.get': skill,
  'skills.create': () => ({ body: { slug: 'another', name: 'Another' } }),
  'skills.update': ({ skillSlug }) => ({ params: { slug: skillSlug }, body: { name: 'changed' } }),
  'skills.delete': skill,

  'deploy-tokens.create': () => ({ body: { name: 'pipeline' } }),
  'deploy-tokens.revoke': ({ deployTokenId }) => ({ params: { id: deployTokenId } }),
  'manifests.plan': () => ({ body: { manifests: [ANOTHER_MANIFEST] } }),
  'manifests.apply': () => ({ body: { manifests: [ANOTHER_MANIFEST] } }),
  'tools.detail': tool,
  'tools.create': () => ({
    body: {
      slug: 'another',
      description: 'Says yes.',
      kind: 'stub',
      schema: { type: 'object' },
      body: { result: 'yes' },
    },
  }),
  'tools.update': ({ toolSlug }) => ({ params: { slug: toolSlug }, body: { description: 'changed' } }),
  'tools.delete': tool,

  'feature-flags.put': () => ({ params: { name: 'another' }, body: { enabled: true } }),
  'feature-flags.delete': () => ({ params: { name: 'another' } }),
  'crm-admin.list': () => ({ query: { status: 'lead' } }),
  'crm-admin.get': customer,
  'crm-admin.update': () => ({ ...customerOf, body: { status: 'active' } }),
  'crm-admin.notes': customer,
  'crm-admin.createNote': () => ({ ...customerOf, body: { text: 'Called.' } }),
  'crm-admin.deleteNote': () => ({ params: { ...customerOf.params, note_id: NOBODYS.runArtifactId } }),
  'system.reload': () => ({ body: {} }),

  'output-destinations.create': () => ({
    body: { name: 'another', kind: 'webhook', config: { url: 'https://example.com/in' } },
  }),
  'output-destinations.listDeliveries': ({ destinationId }) => ({ query: { destination_id: destinationId } }),
  'output-destinations.redeliver': ({ outputDeliveryId }) => ({ params: { id: outputDeliveryId } }),
  'output-destinations.get': destination,
  'output-destinations.update': (of) => ({ ...destination(of), body: { enabled: false } }),
  'output-destinations.delete': destination,
  'output-destinations.test': destination,

  'chat.listThreads': () => ({ query: { limit: 10 } }),
  'chat.createThread': () => ({ body: { title: 'another' } }),
  'chat.getThread': thread,
  'chat.updateThread': (of) => ({ ...thread(of), body: { title: 'changed' } }),
  'chat.deleteThread': thread,
  'chat.listMessages': thread,
  'chat.sendMessage': (of) => ({ ...thread(of), body: { content: 'Say something.' } }),
  'chat.listAttachments': thread,
  'chat.uploadAttachments': (of) => ({ ...thread(of), body: attachmentForm('another') }),

  'webhooks.create': () => ({ body: { url: 'https://example.com/hook' } }),
  'webhooks.delete': webhook,
  'webhook-deliveries.list': ({ webhookId }) => ({ query: { endpoint: webhookId } }),
  'webhook-deliveries.redeliver': ({ deliveryId }) => ({ params: { id: deliveryId } }),
  'webhook-deliveries.createEndpoint': () => ({ body: { url: 'https://example.com/hook' } }),
  'webhook-deliveries.deleteEndpoint': ({ otherWebhookId }) => ({ params: { id: otherWebhookId } }),
  'webhook-deliveries.resumeEndpoint': webhook,
  'webhook-deliveries.rotateSecret': webhook,
};
