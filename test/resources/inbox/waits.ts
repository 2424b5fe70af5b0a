/** What tests of the inbox do again and again. */
import { dispatch, tool } from '../../support/fixtures/runs.ts';
import { agentStep, gateStep, makeTemplate, phaseSpec, startProject } from '../../support/fixtures/projects.ts';
import { eventually, tenantOf, type Tenant, type TestService } from '../../support/service/service.ts';
import { addMember } from '../sign-in/people.ts';

export const ASKER_AGENT = {
  slug: 'asker',
  model: 'offline',
  prompt: 'You ask before you answer.',
  allowed_tool_slugs: ['ask_human', 'await_submission'],
};

export const asks = (tenant: Tenant, question: string, options?: string[]): Promise<string> =>
  dispatch(tenant, { agent: ASKER_AGENT.slug, prompt: tool('ask_human', { question, ...(options && { options }) }) });

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects of it is what its assertions say
type Row = Record<string, any> & { id: string; revision: number };

/** Newest first. */
export async function openWaits(tenant: Tenant, query: Record<string, string>): Promise<Row[]> {
  const { status, body } = await tenant.cp('GET', `/v1/inbox?${new URLSearchParams(query).toString()}`);
  if (status !== 200) throw new Error(`not listed: ${JSON.stringify(body)}`);
  return body.data;
}

/** The one that there is, once there is one. */
export const untilWait = (tenant: Tenant, query: Record<string, string>): Promise<Row> =>
  eventually(async () => {
    const [wait] = await openWaits(tenant, query);
    if (!wait) throw new Error(`nothing waits of ${JSON.stringify(query)}`);
    return wait;
  });

export const detailOf = async (tenant: Tenant, id: string): Promise<Row> => {
  const { status, body } = await tenant.cp('GET', `/v1/inbox/${id}`);
  if (status !== 200) throw new Error(`not there: ${JSON.stringify(body)}`);
  return body;
};

export const answer = (tenant: Tenant, { id, revision }: { id: string; revision: number }, body: object) =>
  tenant.cp('POST', `/v1/inbox/${id}/answer`, { revision, ...body });

export const approve = { answer: 'approve' };

/** A template of this name for each gate, with one step before it. */
export async function makeGates(
  tenant: Tenant,
  gates: Readonly<Record<string, Record<string, unknown>>>,
): Promise<void> {
  for (const [slug, config] of Object.entries(gates)) {
    await makeTemplate(tenant, slug, [phaseSpec('text', [agentStep('write'), gateStep('gate', 'human', config)])]);
  }
}

/** A project that waits at the gate of such a template. @param by starts it */
export async function startAtGate(tenant: Tenant, name: string, by: Tenant = tenant) {
  const id = await startProject(by, name);
  return { id, wait: await untilWait(tenant, { project_id: id }) };
}

/** Somebody of a workspace, with its key. */
export const personOf = (service: TestService, { caller, apiKey }: Tenant, email: string): Tenant =>
  tenantOf(service.baseUrl, { ...caller, actor: email }, apiKey);

export async function memberOf(service: TestService, tenant: Tenant, email: string): Promise<Tenant> {
  await addMember(service, tenant.caller.customerId, email, 'member');
  return personOf(service, tenant, email);
}
