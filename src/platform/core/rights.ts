/**
 * Who may do what: this is the one place where a role is looked at. A right belongs to those that its line names;
 * whoever is not named does not have it, nor does whoever has no role, unless the line says so. Nothing here reads or writes anything.
 *
 * A standing is opaque, so that no other file can decide anything by it: the compiler refuses to look inside. Where a
 * role is data (a row of members, the claims of a session) the linter refuses to compare it (`eslint.config.mjs`).
 */
import { INTERNAL_WORKSPACE } from './ids.ts';
import { Problem, type ProblemCode } from './problem.ts';

/** Whoever works in a workspace has one of these roles. */
export const WORKING_ROLES = ['owner', 'admin', 'member'] as const;
export type WorkingRole = (typeof WORKING_ROLES)[number];
/** A member has one of these roles in a workspace; a viewer sees what a member sees, and changes nothing. */
export const ROLES = [...WORKING_ROLES, 'viewer'] as const;
export type Role = (typeof ROLES)[number];
/** The role of somebody who cannot be told to be more. */
export const LOOKS_ONLY = 'viewer' satisfies Role;
/** A pipeline has a session of this role, and nobody is a member with it: it brings files, and sees nothing else. */
export const DEPLOYER = 'deployer';
export const SESSION_ROLES = [...ROLES, DEPLOYER] as const;
export type SessionRole = (typeof SESSION_ROLES)[number];

/** An identity provider may say that somebody is one of these; nobody becomes an owner so, and an owner stays one. */
export const SAID_ROLES = ['admin', 'member', 'viewer'] as const satisfies readonly Role[];

interface Grant {
  roles: readonly SessionRole[];
  /** The right exists only in the workspace that operates the deployment. */
  operating?: true;
  /** The right needs the admin stamp of the browser proxy as well. */
  stamped?: true;
  /** Who has no role has the right too: an API key, the service itself, a token of somebody who is no member. */
  roleless?: true;
  /** Whoever shows the operator token has the right too. */
  operatorToken?: true;
  /** Whoever has the right needs neither that to look nor that to change. */
  alone?: true;
  /** Somebody without the right is told this. */
  refusal: ProblemCode;
}

const MANAGERS = ['owner', 'admin'] as const;

const RIGHTS = {
  /** Every endpoint asks for this right, but for those whose own right is enough. */
  'workspace.look': { roles: ROLES, roleless: true, operatorToken: true, refusal: 'deploys_only' },
  /** Every endpoint that is more than a look asks for this right, besides what it asks for itself. */
  'workspace.change': { roles: WORKING_ROLES, roleless: true, refusal: 'read_only' },
  /** With this right the browser proxy stamps requests, which admin routes ask for. */
  'admin.stamp': { roles: MANAGERS, refusal: 'admin_required' },
  'admin.routes': { roles: MANAGERS, stamped: true, refusal: 'admin_required' },
  'deployment.routes': { roles: WORKING_ROLES, operating: true, refusal: 'internal_only' },
  'deployment.inspect': { roles: WORKING_ROLES, operating: true, refusal: 'internal_only' },
  'payloads.decode': { roles: MANAGERS, operating: true, refusal: 'admin_required' },
  'customers.list-all': { roles: MANAGERS, operating: true, refusal: 'internal_only' },
  'customers.annotate': { roles: MANAGERS, operating: true, refusal: 'internal_only' },
  /** This right shows workspaces of others to routes that take a workspace, and lets them be provisioned again. */
  'workspaces.reach-any': { roles: WORKING_ROLES, operating: true, refusal: 'not_found' },
  'workspaces.create-any': { roles: MANAGERS, operating: true, refusal: 'not_your_workspace' },
  /** This right makes a workspace again that was taken down; its members are there already. */
  'workspace.create-again': { roles: MANAGERS, refusal: 'admin_required' },
  'workspace.destroy': { roles: MANAGERS, refusal: 'admin_required' },
  /** This right takes everything out of the workspace. */
  'workspace.export': { roles: ['owner'], refusal: 'owner_required' },
  /** With this right a plan counts although nobody has paid for it. */
  'plans.grant': { roles: MANAGERS, operating: true, refusal: 'internal_only' },
  'members.reach-any': { roles: MANAGERS, operating: true, stamped: true, refusal: 'not_found' },
  /** This right makes, demotes and removes owners. */
  'members.appoint-owners': { roles: ['owner'], refusal: 'owner_required' },
  'integrations.write-any': { roles: WORKING_ROLES, operating: true, refusal: 'not_found' },
  /** Where skills are public, everybody sees that they exist; this right shows what they say. */
  'skills.read-bodies': { roles: MANAGERS, stamped: true, refusal: 'admin_required' },
  /** This right reads what a workspace has made, as files say it. */
  'manifests.read': { roles: SESSION_ROLES, alone: true, refusal: 'deploys_only' },
  /** This right brings a workspace to what files say. */
  'manifests.apply': { roles: [...WORKING_ROLES, DEPLOYER], alone: true, refusal: 'read_only' },
  'deploy-tokens.manage': { roles: MANAGERS, refusal: 'admin_required' },
  /** What is done to another workspace is told in that one's audit log. */
  'audit-log.tell-others': { roles: WORKING_ROLES, operating: true, operatorToken: true, refusal: 'internal_only' },
} as const satisfies Record<string, Grant>;

export type Right = keyof typeof RIGHTS;
export const RIGHT_NAMES = Object.keys(RIGHTS) as [Right, ...Right[]];
const grants: Readonly<Record<Right, Grant>> = RIGHTS;

declare const opaque: unique symbol;
/** A standing says what somebody is to the workspace that a request is for. */
export interface Standing {
  readonly [opaque]: true;
}

interface Facts {
  role?: SessionRole | undefined;
  /** The role of the person who made the credential: it has no right that this person has lost. */
  makerRole?: Role | undefined;
  isOperating?: boolean;
  isStamped?: boolean;
  hasOperatorToken?: boolean;
}

const standing = (facts: Facts): Standing => facts as unknown as Standing;

interface StandingOptions {
  isStamped?: boolean;
  /** Of a credential that a person made for programs. */
  makerRole?: Role | undefined;
}

/**
 * @param role what the caller is in the workspace; undefined: no member, as far as can be told
 * @returns the standing of somebody with that role
 */
export const standingIn = (
  workspaceId: string,
  role: SessionRole | undefined,
  { isStamped = false, makerRole }: StandingOptions = {},
): Standing => standing({ role, isOperating: workspaceId === INTERNAL_WORKSPACE, isStamped, makerRole });

/** The service itself acts for a workspace and is nobody in it. */
export const NO_STANDING: Standing = standing({});
/**
 * An API key is nobody in its workspace either, and has no right that its maker has lost.
 * @param makerRole what its maker is by now; undefined: not known
 */
export const keyStanding = (makerRole: Role | undefined): Standing => standing({ makerRole });
export const OPERATOR_STANDING: Standing = standing({ hasOperatorToken: true });

interface Someone {
  standing: Standing;
}

export function can({ standing: of }: Someone, right: Right): boolean {
  const { role, makerRole, isOperating = false, isStamped = false, hasOperatorToken = false } = of as unknown as Facts;
  const { roles, operating = false, stamped = false, operatorToken = false, roleless = false } = grants[right];
  if (hasOperatorToken && operatorToken) return true;
  if (makerRole !== undefined && !roles.includes(makerRole)) return false;
  if (role === undefined && roleless) return true;
  return role !== undefined && roles.includes(role) && (isOperating || !operating) && (isStamped || !stamped);
}

/** @returns every right that the caller has, so that a page need not show a button that would be refused */
export const rightsOf = (someone: Someone): Right[] => RIGHT_NAMES.filter((right) => can(someone, right));

/** @throws Problem the refusal that the right declares */
export function demand(someone: Someone, right: Right): void {
  if (!can(someone, right)) throw new Problem(grants[right].refusal);
}

/** A workspace keeps at least one owner, and only an owner changes one. @param role of a row among the members */
export const isOwner = (role: Role): boolean => role === 'owner';

/** @returns whether the right is asked for in the place of those to look and to change */
export const isEnough = (right: Right): boolean => grants[right].alone ?? false;

/** A pipeline's session counts while its token does. @param role of the claims of a session */
export const isOfPipeline = (role: SessionRole): boolean => role === DEPLOYER;
