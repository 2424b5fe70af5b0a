/** Declares what the configuration of each kind of gate may contain. */
import { z } from 'zod';
import { nextRun } from '../../../platform/core/cron.ts';
import { WORKING_ROLES } from '../../../platform/core/rights.ts';
import { faultsIn } from '../../../platform/http/unknown-fields.ts';
import type { GateKind } from '../model.ts';
import { TIMEOUTS } from './model.ts';

const Prompt = z.string().max(20_000);
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
  .strictObject({ prompt: Prompt.optional(), on_reject: OnReject.optional(), ...POLICY })
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

/** Refuses what can be told without the clock of the database: that it is no expression, and that its time never comes. */
const Cron = z.string().superRefine((cron, { addIssue }) => {
  try {
    if (!nextRun(cron)) addIssue(`"${cron}" never comes`);
  } catch {
    addIssue(`"${cron}" is not a five-field expression`);
  }
});
const TIMES = ['at', 'delay_s', 'cron'] as const;

/** The shape of the configuration of each kind of gate. Documents show it too. */
export const GATE_CONFIGS = {
  human: Human.meta({ title: 'Of a human gate' }),
  webhook: z
    .strictObject({
      prompt: Prompt.optional(),
      on_reject: OnReject.optional(),
      expires_in_s: FarSeconds.optional().describe('Seconds until it counts as rejected'),
    })
    .meta({ title: 'Of a webhook gate' }),
  schedule: z
    .strictObject({
      at: z.iso.datetime({ offset: true }).optional(),
      delay_s: FarSeconds.or(z.literal(0)).optional().describe('Seconds since it opened'),
      cron: Cron.optional().describe('Five fields, UTC: it waits until the next time'),
    })
    .refine((config) => Object.keys(config).length === 1, `needs exactly one of ${TIMES.join(', ')}`)
    .meta({ title: 'Of a schedule gate', oneOf: TIMES.map((name) => ({ required: [name] })) }),
  pipeline_dep: z
    .strictObject({ project_id: z.string().min(1).describe('It waits until this project is completed') })
    .meta({ title: 'Of a pipeline_dep gate' }),
} as const satisfies Record<GateKind, z.ZodType>;

interface Fault {
  path: PropertyKey[];
  message: string;
}
type GateConfig = z.output<(typeof GATE_CONFIGS)[GateKind]>;

const MAX_FAULTS = 20;

/**
 * Reads the configuration of a gate when its workflow is made, and again when the gate opens: only then is it known
 * whether another project exists, and rows may be older than a rule.
 * @returns the configuration as it is to be stored, or each fault with the path to it
 */
export function readGateConfig(kind: GateKind, given: unknown): { config: GateConfig } | { faults: Fault[] } {
  const schema = GATE_CONFIGS[kind];
  const { data, error } = schema.safeParse(given ?? {});
  if (data) return { config: data };
  const faults = faultsIn(schema, given, error, MAX_FAULTS);
  return { faults: faults.map((fault) => (isPolicyOfOther(kind, fault) ? { ...fault, message: ONLY_HUMAN } : fault)) };
}

const ONLY_HUMAN = 'only a human gate has one';
const isPolicyOfOther = (kind: GateKind, { path: [field, ...deeper] }: Fault): boolean =>
  kind !== 'human' && deeper.length === 0 && Object.hasOwn(POLICY, field ?? '');
