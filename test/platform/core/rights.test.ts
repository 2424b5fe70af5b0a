/** The table of rights, from outside: what is not granted is refused, whoever asks. */
import { describe, expect, test } from '@jest/globals';
import {
  can,
  demand,
  keyStanding,
  NO_STANDING,
  OPERATOR_STANDING,
  RIGHT_NAMES,
  rightsOf,
  ROLES,
  SESSION_ROLES,
  standingIn,
  type Right,
  type Standing,
} from '../../../src/platform/core/rights.ts';
import { brokenRules } from '../../support/architecture/lint.ts';

const of = (standing: Standing) => ({ standing });
const stamped = { isStamped: true };

/** Who has it, of the workspace that is meant and of the one that operates the deployment. A new right needs its line. */
const WHO: Record<Right, string> = {
  'workspace.look': 'owner admin member viewer undefined nobody operator-token',
  'workspace.change': 'owner admin member undefined nobody operator-token',
  'admin.stamp': 'owner admin',
  'admin.routes': 'stamped:owner stamped:admin',
  'deployment.routes': 'operating:owner operating:admin operating:member',
  'deployment.inspect': 'operating:owner operating:admin operating:member',
  'payloads.decode': 'operating:owner operating:admin',
  'customers.list-all': 'operating:owner operating:admin',
  'customers.annotate': 'operating:owner operating:admin',
  'workspaces.reach-any': 'operating:owner operating:admin operating:member',
  'workspaces.create-any': 'operating:owner operating:admin',
  'workspace.create-again': 'owner admin',
  'workspace.destroy': 'owner admin',
  'workspace.export': 'owner',
  'plans.grant': 'operating:owner operating:admin',
  'members.reach-any': 'operating:stamped:owner operating:stamped:admin',
  'members.appoint-owners': 'owner',
  'integrations.write-any': 'operating:owner operating:admin operating:member',
  'skills.read-bodies': 'stamped:owner stamped:admin',
  'manifests.read': 'owner admin member viewer deployer',
  'manifests.apply': 'owner admin member deployer',
  'deploy-tokens.manage': 'owner admin',
  'audit-log.tell-others': 'operating:owner operating:admin operating:member operator-token',
};

/** Everybody there is, with what each brings. */
const EVERYBODY: [name: string, standing: Standing][] = [
  ...([...SESSION_ROLES, undefined, 'root', '', 'Owner', '__proto__'] as (typeof SESSION_ROLES)[number][]).flatMap(
    (role) =>
      ['acc_acme', 'acc_internal', 'acc_Internal', 'internal'].flatMap((workspaceId): [string, Standing][] => {
        const place = workspaceId === 'acc_internal' ? 'operating:' : '';
        return [
          [`${place}${role}`, standingIn(workspaceId, role)],
          [`${place}stamped:${role}`, standingIn(workspaceId, role, stamped)],
        ];
      }),
  ),
  ['nobody', NO_STANDING],
  ['operator-token', OPERATOR_STANDING],
];

describe.each(Object.entries(WHO) as [Right, string][])('%s', (right, who) => {
  // Guards: rights are an allow-list. An unknown or missing role has none, and no role gets one by not being excluded.
  test('is of those that it names', () => {
    const named = who.split(' ');
    // Whoever operates the deployment or is stamped has what others of the role have.
    const has = (name: string) =>
      named.some((one) => {
        const [needed, given] = [one.split(':'), name.split(':')];
        return needed.at(-1) === given.at(-1) && needed.every((part) => given.includes(part));
      });
    const wrong = EVERYBODY.filter(([name, standing]) => can(of(standing), right) !== has(name));
    expect(wrong.map(([name]) => name)).toEqual([]);
    if (has('nobody')) expect(() => demand(of(NO_STANDING), right)).not.toThrow();
    else expect(() => demand(of(NO_STANDING), right)).toThrow();
  });
});

// Guards: the compiler refuses a right that is not in the table, and any other way to decide.
test('does not compile otherwise', () => {
  const caller = of(standingIn('acc_acme', 'owner'));
  // @ts-expect-error no such right
  expect(() => can(caller, 'workspace.explode')).toThrow();
  // @ts-expect-error a standing is opaque
  expect(caller.standing.role).toBe('owner');
  // @ts-expect-error nor can one be made up
  const made: Standing = { role: 'owner', isOperating: true };
  expect(made).toBeDefined();
});

// Guards against: a comparison of roles beside the table, which some role falls through, such as "everybody but
// members".
test('lint refuses decisions beside the table', async () => {
  const refused = [
    `text !== 'member'`,
    `'owner' === text`,
    `['owner', 'admin'].includes(text)`,
    `text === INTERNAL_WORKSPACE`,
    `text === 'acc_internal'`,
  ];
  const rules = await brokenRules(refused, 'src/resources/things/service.ts');
  expect(rules).toEqual(refused.map(() => expect.arrayContaining(['no-restricted-syntax'])));
  expect(await brokenRules([`can(text as never, 'workspace.destroy')`], 'src/resources/things/service.ts')).toEqual([
    [],
  ]);
});

// Guards against: a credential that keeps a right which its maker has lost. Generated over every role and every right.
test('a key and a deploy token have no right that their maker has not', () => {
  for (const role of ROLES) {
    const maker = of(standingIn('internal', role, stamped));
    const made = [keyStanding(role), standingIn('internal', 'deployer', { ...stamped, makerRole: role })];
    for (const right of RIGHT_NAMES) {
      for (const standing of made)
        expect([role, right, can(of(standing), right) && !can(maker, right)]).toContain(false);
    }
  }
  const keys = ROLES.map((role) => rightsOf(of(keyStanding(role))).join(' '));
  expect(keys).toEqual([...Array<string>(3).fill('workspace.look workspace.change'), 'workspace.look']);
  const tokens = ROLES.map((role) => rightsOf(of(standingIn('acc_a', 'deployer', { makerRole: role }))).join(' '));
  expect(tokens).toEqual([...Array<string>(3).fill('manifests.read manifests.apply'), 'manifests.read']);
});
