/**
 * Two workspaces from birth to rebirth, with people, keys, receivers and work, in random order, against a model that knows
 * who may what. After every act each credential that there ever was is tried: nothing crosses a life or a tenant, and
 * nothing is done in an archive.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { customerIdOf } from '../../../src/platform/core/ids.ts';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import type { Role } from '../../../src/platform/core/rights.ts';
import { capOf, type CappedResource, type Plan } from '../../../src/resources/workspaces/model.ts';
import { INTERNAL_CALLER } from '../../support/http/send.ts';
import { call, eventually, startTestService, type Answer, type TestService } from '../../support/service/service.ts';
import { attempts, sized, tried } from '../../support/runner/sizes.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { askAs } from './asking.ts';

const PEOPLE = ['ana@people.example', 'bo@people.example', 'cy@people.example'] as const;

let service: TestService;
let receiver: WebhookReceiver;
let ask: ReturnType<typeof askAs>;
let nth = 0;

beforeAll(async () => {
  receiver = await startWebhookReceiver(() => ({ status: 200, body: 'taken' }));
  service = await startTestService({
    env: { WEBHOOK_ALLOW_HTTP: 'true', EGRESS_ALLOWLIST: receiver.hostAndPort, HOUSEKEEPING_INTERVAL: '1s' },
  });
  await service.services.stores.workspaces.seedInternal('http://localhost:8080');
  ask = askAs(service, INTERNAL_CALLER);
});
afterAll(async () => {
  await service?.close();
  await receiver?.close();
});

interface Life {
  /** Part of every name that is made in it. */
  mark: string;
  members: Map<string, { id: string; role: Role }>;
  agents: string[];
  runs: string[];
  plan: Plan;
  /** How many there are of what its plan has a cap for. */
  made: Partial<Record<CappedResource, number>>;
}
/** Of what a story can come to the cap of the smallest plan with. */
const CAPPED: Readonly<Record<string, CappedResource>> = {
  '/v1/api-keys': 'api_keys',
  '/v1/agents': 'agents',
  '/v1/webhooks': 'webhook_endpoints',
};
interface Workspace {
  id: string;
  isArchived: boolean;
  life: Life;
}
/** A credential, and until when it was good for anything. */
interface Credential {
  workspace: Workspace;
  life: Life;
  /** Whose session it is, or who made the key. */
  person: string | undefined;
  headers: Record<string, string>;
  isKey: boolean;
  /** Cut off by a removal, a change of role or the end of the workspace. */
  isOver: boolean;
}

const newLife = (mark: string): Life => ({
  mark,
  members: new Map(),
  agents: [],
  runs: [],
  made: {},
  plan: 'scale',
});

class World {
  readonly workspaces: Workspace[] = [];
  readonly credentials: Credential[] = [];
  #made = 0;

  async begin(): Promise<void> {
    for (const letter of ['a', 'b']) {
      const id = `acc_life-${++nth}${letter}`;
      const workspace: Workspace = { id, isArchived: true, life: newLife('') };
      this.workspaces.push(workspace);
      await this.make(workspace);
      await this.moveIn(workspace, PEOPLE[0], 'owner');
    }
  }

  /** One of each, as a rare act would otherwise be one of a workspace with nothing in it. */
  async moveIn(workspace: Workspace, person: string, role: Role): Promise<void> {
    await this.invite(workspace, person, role);
    await this.signIn(workspace, person);
    await this.makeKey(workspace);
    await this.subscribe(workspace);
    await this.makeAgent(workspace);
    await this.run(workspace);
  }

  name(workspace: Workspace): string {
    return `x-${workspace.life.mark}-${++this.#made}`;
  }

  async make(workspace: Workspace): Promise<void> {
    const answer = await ask('POST', '', { identity_workspace_id: workspace.id, plan: 'scale' });
    expect(answer.status).toBe(workspace.isArchived ? 201 : 409);
    if (!workspace.isArchived) return;
    for (const one of this.credentials) if (one.workspace === workspace) one.isOver = true;
    workspace.isArchived = false;
    workspace.life = newLife(`${workspace.id.slice(4)}-${++this.#made}`);
    await eventually(async () => expect((await ask('GET', `/${workspace.id}`)).body.status).toBe('ready'));
  }

  async archive(workspace: Workspace): Promise<void> {
    if (workspace.life.mark === '') return;
    expect((await ask('DELETE', `/${workspace.id}`)).status).toBe(200);
    workspace.isArchived = true;
    for (const one of this.credentials) if (one.workspace === workspace && one.isKey) one.isOver = true;
  }

  async invite(workspace: Workspace, person: string, role: Role): Promise<void> {
    const { members } = workspace.life;
    const { status, body } = await ask('POST', `/${workspace.id}/members`, { email: person, role });
    expect(status).toBe(workspace.isArchived ? 403 : members.has(person) ? 409 : 201);
    if (status === 201) members.set(person, { id: body.id, role });
  }

  /** @param role undefined: taken out */
  async change(workspace: Workspace, person: string, role: Role | undefined): Promise<void> {
    const { members } = workspace.life;
    const member = members.get(person);
    if (!member || workspace.isArchived) return;
    const owners = [...members.values()].filter((one) => one.role === 'owner').length;
    const isLast = member.role === 'owner' && owners === 1 && role !== 'owner';
    const path = `/${workspace.id}/members/${member.id}`;
    const { status } = role ? await ask('PATCH', path, { role }) : await ask('DELETE', path);
    expect(status).toBe(isLast ? 409 : role ? 200 : 204);
    if (isLast || role === member.role) return;
    if (role) member.role = role;
    else members.delete(person);
    for (const one of this.credentials) {
      if (one.workspace !== workspace || one.person !== person || one.isOver || (role && one.isKey)) continue;
      // A key outlives a change of its maker's role, and not the removal of its maker. It then counts for no cap.
      one.isOver = true;
      const { made } = workspace.life;
      if (one.isKey) made.api_keys = (made.api_keys ?? 0) - 1;
    }
  }

  async signIn(workspace: Workspace, person: string): Promise<void> {
    const member = workspace.life.members.get(person);
    if (!member) return;
    const { sessions } = service.services.signIn;
    const customerId = customerIdOf(workspace.id);
    const iat = await sessions.beginning(customerId, person);
    const { session } = sessions.sign(person, { workspaceId: workspace.id, customerId, role: member.role }, iat);
    this.add(workspace, { person, headers: { cookie: `service_session=${session}` }, isKey: false });
  }

  add(workspace: Workspace, what: Pick<Credential, 'person' | 'headers' | 'isKey'>): void {
    this.credentials.push({ workspace, life: workspace.life, isOver: false, ...what });
  }

  good(workspace: Workspace, isKey: boolean): Credential | undefined {
    return this.credentials.findLast((one) => one.workspace === workspace && one.isKey === isKey && !one.isOver);
  }

  /** By agreement, as an operator does. What there is more of than the new plan allows stays. */
  async changePlan({ id, life }: Workspace, plan: Plan): Promise<void> {
    await service.runtime.db.rows(sql`
      update workspaces set plan = ${plan}::workspace_plan, granted_plan = ${plan}::workspace_plan
      where customer_id = ${customerIdOf(id)}`);
    life.plan = plan;
  }

  /** With a credential that is good, if there is one: what it makes is refused in an archive, and over a cap. */
  async put(workspace: Workspace, isKey: boolean, path: string, body: object): Promise<Answer | undefined> {
    const credential = this.good(workspace, isKey);
    if (!credential) return undefined;
    const { plan, made } = workspace.life;
    const resource = CAPPED[path];
    const isFull = resource !== undefined && (made[resource] ?? 0) >= (capOf(plan, resource) ?? Infinity);
    const answer = await send(credential, 'POST', path, body);
    const expected = { path, status: workspace.isArchived || isFull ? 403 : 201 };
    expect({ path, status: answer.status }).toEqual(expected);
    if (answer.status !== 201) {
      tried(workspace.isArchived ? 'refused in an archive' : 'refused over a cap');
      return undefined;
    }
    if (resource) made[resource] = (made[resource] ?? 0) + 1;
    return answer;
  }

  async makeKey(workspace: Workspace): Promise<void> {
    const person = this.good(workspace, false)?.person;
    const answer = await this.put(workspace, false, '/v1/api-keys', { name: this.name(workspace) });
    if (answer) this.add(workspace, { person, headers: { authorization: `Bearer ${answer.body.key}` }, isKey: true });
  }

  async makeAgent(workspace: Workspace): Promise<void> {
    const slug = this.name(workspace);
    const answer = await this.put(workspace, false, '/v1/agents', { slug, model: 'offline', prompt: 'You help.' });
    if (answer) workspace.life.agents.push(slug);
  }

  async subscribe(workspace: Workspace): Promise<void> {
    await this.put(workspace, true, '/v1/webhooks', { url: `${receiver.url}/${workspace.life.mark}` });
  }

  async run(workspace: Workspace): Promise<void> {
    const answer = await this.put(workspace, true, '/v1/runs', { agent: 'assistant', prompt: '[[sleep:50]]' });
    if (answer) workspace.life.runs.push(answer.body.run_id);
  }

  /** Every credential there ever was: what it opens is its own workspace, in its own life. */
  async look(): Promise<void> {
    for (const credential of this.credentials) {
      const { workspace, life, isOver } = credential;
      const { status, body } = await send(credential, 'GET', '/v1/agents');
      const named = { isKey: credential.isKey, person: credential.person, life: life.mark, now: workspace.life.mark };
      expect({ ...named, status }).toEqual({ ...named, status: isOver ? 401 : 200 });
      if (isOver) continue;
      const agents = ((body.data ?? body) as { slug: string }[]).flatMap(({ slug }) =>
        slug.startsWith('x-') ? slug : [],
      );
      expect(agents.toSorted()).toEqual(life.agents.toSorted());
      tried('looks by credentials');
    }
  }

  /** Everything that was told, was told to a receiver of the life it happened in. */
  checkReceivers(): void {
    const marks = new Map<string, string>();
    for (const { life } of [...this.credentials, ...this.workspaces]) {
      for (const id of life.runs) marks.set(id, life.mark);
    }
    for (const { path, body } of receiver.received) {
      const [, mark] = /(life-[^/]+)$/.exec(path) ?? [];
      const { run_id: runId } = JSON.parse(String(body)).data ?? JSON.parse(String(body));
      const of = marks.get(runId);
      if (of !== undefined) expect({ runId, mark }).toEqual({ runId, mark: of });
      tried('deliveries');
    }
  }
}

const send = ({ headers, isKey }: Credential, method: string, path: string, body?: object): Promise<Answer> =>
  call(`${service.baseUrl}${isKey ? '' : '/api/v1/cp'}${path}`, method, headers, body);

type Act = (world: World, workspace: Workspace, person: string, role: Role) => Promise<void>;
const ACTS: Record<string, { weight: number; act: Act }> = {
  make: { weight: 3, act: (world, workspace) => world.make(workspace) },
  archive: { weight: 3, act: (world, workspace) => world.archive(workspace) },
  moveIn: { weight: 4, act: (world, workspace, person, role) => world.moveIn(workspace, person, role) },
  invite: { weight: 2, act: (world, workspace, person, role) => world.invite(workspace, person, role) },
  remove: { weight: 2, act: (world, workspace, person) => world.change(workspace, person, undefined) },
  appoint: { weight: 2, act: (world, workspace, person, role) => world.change(workspace, person, role) },
  signIn: { weight: 3, act: (world, workspace, person) => world.signIn(workspace, person) },
  makeKey: { weight: 2, act: (world, workspace) => world.makeKey(workspace) },
  makeAgent: { weight: 3, act: (world, workspace) => world.makeAgent(workspace) },
  subscribe: { weight: 3, act: (world, workspace) => world.subscribe(workspace) },
  run: { weight: 4, act: (world, workspace) => world.run(workspace) },
  downgrade: { weight: 2, act: (world, workspace) => world.changePlan(workspace, 'free') },
  upgrade: { weight: 1, act: (world, workspace) => world.changePlan(workspace, 'starter_byo') },
};

const steps = fc.array(
  fc.record({
    name: fc.oneof(...Object.entries(ACTS).map(([name, { weight }]) => ({ weight, arbitrary: fc.constant(name) }))),
    at: fc.nat({ max: 1 }),
    person: fc.constantFrom(...PEOPLE),
    role: fc.constantFrom<Role>('owner', 'admin', 'member'),
  }),
  { minLength: 20, maxLength: sized(40, 80), size: 'max' },
);

// Guards: the rules of workspaces and members hold after any sequence of what can happen to them.
test('nothing crosses a life or a tenant', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const world = new World();
      await world.begin();
      for (const { name, at, person, role } of all) {
        await present(ACTS[name]).act(world, itemAt(world.workspaces, at), person, role);
        await world.look();
        tried('acts');
      }
      world.checkReceivers();
    }),
    // Making a failure smaller takes as long again for each attempt.
    { ...attempts(3, 60), interruptAfterTimeLimit: sized(120_000, 900_000) },
  );
}, 1_200_000);
