/**
 * Who may do what: the one place where a role is looked at. A right belongs to those that its line names; whoever is not
 * named, and whoever has no role at all, does not have it. Pure.
 *
 * A standing is opaque, so that no other file can decide anything by it: the compiler refuses to look inside. Where a role
 * is data (a row of members, the claims of a session) the linter refuses to compare it (`eslint.config.mjs`).
 */
import { INTERNAL_WORKSPACE } from './ids.ts';
import { Problem, type ProblemCode } from './problem.ts';

/** What a member of a workspace is in it. */
export const ROLES = ['owner', 'admin', 'member'] as const;
export type Role = (typeof ROLES)[number];

interface Grant {
  roles: readonly Role[];
  /** In the workspace that operates the deployment alone. */
  operating?: true;
  /** With the admin stamp of the browser proxy alone. */
  stamped?: true;
  /** And whoever shows the operator token. */
  operatorToken?: true;
  /** What somebody without it is told. */
  refusal: ProblemCode;
}

const EVERY_ROLE = ROLES;
const MANAGERS = ['owner', 'admin'] as const;

const RIGHTS = {
  /** To be stamped by the browser proxy, which admin routes ask for. */
  'admin.stamp': { roles: MANAGERS, refusal: 'admin_required' },
  'admin.routes': { roles: MANAGERS, stamped: true, refusal: 'admin_required' },
  'deployment.routes': { roles: EVERY_ROLE, operating: true, refusal: 'internal_only' },
  'deployment.inspect': { roles: EVERY_ROLE, operating: true, refusal: 'internal_only' },
  'payloads.decode': { roles: MANAGERS, operating: true, refusal: 'admin_required' },
  'customers.list-all': { roles: MANAGERS, operating: true, refusal: 'internal_only' },
  'customers.annotate': { roles: MANAGERS, operating: true, refusal: 'internal_only' },
  /** To see workspaces of others where they are scoped, and to have them provisioned again. */
  'workspaces.reach-any': { roles: EVERY_ROLE, operating: true, refusal: 'not_found' },
  'workspaces.create-any': { roles: MANAGERS, operating: true, refusal: 'not_your_workspace' },
  /** To make one again that was taken down: its members are there already. */
  'workspace.create-again': { roles: MANAGERS, refusal: 'admin_required' },
  'workspace.destroy': { roles: MANAGERS, refusal: 'admin_required' },
  /** A plan counts that nobody has paid for. */
  'plans.grant': { roles: MANAGERS, operating: true, refusal: 'internal_only' },
  'members.reach-any': { roles: MANAGERS, operating: true, stamped: true, refusal: 'not_found' },
  /** To make, demote and remove owners. */
  'members.appoint-owners': { roles: ['owner'], refusal: 'owner_required' },
  'integrations.write-any': { roles: EVERY_ROLE, operating: true, refusal: 'not_found' },
  /** Where skills are for everybody to see, in public-visibility mode. */
  'skills.read-bodies': { roles: MANAGERS, stamped: true, refusal: 'admin_required' },
  /** What is done to another workspace is told in that one's audit log. */
  'audit-log.tell-others': { roles: EVERY_ROLE, operating: true, operatorToken: true, refusal: 'internal_only' },
} as const satisfies Record<string, Grant>;

export type Right = keyof typeof RIGHTS;
export const RIGHT_NAMES = Object.keys(RIGHTS) as [Right, ...Right[]];
const grants: Readonly<Record<Right, Grant>> = RIGHTS;

declare const opaque: unique symbol;
/** What somebody is to the workspace that a request is for. */
export interface Standing {
  readonly [opaque]: true;
}

interface Facts {
  role?: Role | undefined;
  isOperating?: boolean;
  isStamped?: boolean;
  hasOperatorToken?: boolean;
}

const standing = (facts: Facts): Standing => facts as unknown as Standing;

/** Of somebody whose role in the workspace is known; undefined: is no member of it, as far as can be told. */
export const standingIn = (workspaceId: string, role: Role | undefined, { isStamped = false } = {}): Standing =>
  standing({ role, isOperating: workspaceId === INTERNAL_WORKSPACE, isStamped });

/** Of what acts for a workspace and is nobody in it: an API key, the service itself. */
export const NO_STANDING: Standing = standing({});
export const OPERATOR_STANDING: Standing = standing({ hasOperatorToken: true });

interface Someone {
  standing: Standing;
}

export function can({ standing: of }: Someone, right: Right): boolean {
  const { role, isOperating = false, isStamped = false, hasOperatorToken = false } = of as unknown as Facts;
  const { roles, operating = false, stamped = false, operatorToken = false } = grants[right];
  if (hasOperatorToken && operatorToken) return true;
  return role !== undefined && roles.includes(role) && (isOperating || !operating) && (isStamped || !stamped);
}

/** All that it has: for a page to show no button that would be refused. */
export const rightsOf = (someone: Someone): Right[] => RIGHT_NAMES.filter((right) => can(someone, right));

/** @throws Problem the refusal of the right */
export function demand(someone: Someone, right: Right): void {
  if (!can(someone, right)) throw new Problem(grants[right].refusal);
}

/** Of a row among the members: a workspace keeps at least one such, and only such a one changes it. */
export const isOwner = (role: Role): boolean => role === 'owner';
