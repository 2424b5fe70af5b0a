/** Declares what the configuration of each kind of gate may contain. */
import { z } from 'zod';
import { WORKING_ROLES } from '../../../platform/core/rights.ts';
import type { GateKind } from '../model.ts';
import { TIMEOUTS } from './model.ts';

const OnReject = z.enum(['pause', 'rework']);
const FarSeconds = z
  .number()
  .positive()
  .max(10 * 365 * 24 * 3_600);
const Address = z.email().max(254).toLowerCase();

const Approvers = z
  .strictObject({
    members: z.array(Address).min(1).max(50).optional().describe('By e-mail address, as long as they are members'),
    roles: z.array(z.enum(WORKING_ROLES)).min(1).optional().describe('Every member of one of these roles'),
    emails: z.array(Address).min(1).max(50).optional().describe('Anybody, by e-mail address'),
    api_keys: z.boolean().optional().describe('Every API key of the workspace'),
  })
  .refine((named) => Object.values(named).some(Boolean), 'names nobody');

/** Who decides at a gate of people, and when. */
const POLICY = {
  approvers: Approvers.optional().describe('Whose answers count; without it those of everybody in the workspace'),
  quorum: z.int().min(1).max(20).optional().describe('How many have to approve; one rejection decides'),
  four_eyes: z
    .boolean()
    .optional()
    .describe('Not whoever started the project, or last changed by hand what the gate is about'),
  due_in_s: FarSeconds.optional().describe('Seconds since it opened'),
  reminders_s: z.array(FarSeconds).min(1).max(10).optional().describe('Seconds since it opened'),
  escalate_to: Approvers.optional().describe(
    'Whose answers count too once it is due; the time then runs a second time',
  ),
  step_up: z.literal('code').optional().describe('An answer by a link in a mail also takes a confirmation code'),
  on_timeout: z.enum(TIMEOUTS).optional().describe('What happens when the time is over; `remind` by default'),
};

const Human = z
  .strictObject({ prompt: z.string().max(20_000).optional(), on_reject: OnReject.optional(), ...POLICY })
  .superRefine(({ approvers, quorum = 1, due_in_s, escalate_to, on_timeout }, { addIssue }) => {
    const fault = (field: keyof typeof POLICY, message: string) => addIssue({ code: 'custom', path: [field], message });
    if (due_in_s === undefined && escalate_to) fault('escalate_to', 'needs due_in_s');
    if (due_in_s === undefined && on_timeout) fault('on_timeout', 'needs due_in_s');
    const { members = [], roles, emails = [], api_keys } = approvers ?? { roles: WORKING_ROLES };
    const named = new Set([...members, ...emails]).size;
    if (!roles && !api_keys && named < quorum) fault('quorum', `of ${quorum}, and only ${named} are named`);
  });

/** The policy as the inbox shows it, without the rest of the gate's configuration. */
export const GatePolicy = z.object(POLICY).meta({ id: 'GatePolicy' });

export const GATE_CONFIGS = {
  human: Human,
  webhook: z.strictObject({
    prompt: z.string().max(20_000).optional(),
    on_reject: OnReject.optional(),
    expires_in_s: FarSeconds.optional(),
  }),
  schedule: z
    .strictObject({
      at: z.iso.datetime({ offset: true }).optional(),
      delay_s: FarSeconds.or(z.literal(0)).optional(),
      cron: z.string().optional(),
    })
    .refine((config) => Object.keys(config).length === 1, 'needs exactly one of at, delay_s, cron'),
  pipeline_dep: z.strictObject({ project_id: z.string().min(1) }),
} as const satisfies Record<GateKind, z.ZodType>;

/**
 * Finds faults in who decides at a gate. The rest of the configuration is checked when the gate opens, and its faults
 * pause the project then.
 * @returns each fault with the path to it
 */
export function policyFaults(kind: GateKind | undefined, config: Record<string, unknown> | undefined) {
  const has = Object.keys(POLICY).filter((name) => config?.[name] !== undefined);
  if (has.length === 0) return [];
  if (kind !== 'human') return has.map((name) => ({ path: [name], message: 'only a human gate has one' }));
  const parsed = Human.safeParse(config);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => ({ path, message }));
}
