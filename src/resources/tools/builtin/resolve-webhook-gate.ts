/**
 * Lets an agent answer a gate that waits for an external system, which is the only kind of gate that an agent may
 * answer.
 */
import { z } from 'zod';
import type { GateCommand } from '../../../../workflows/project/messages.ts';
import { Problem } from '../../../platform/core/problem.ts';
import { DECISIONS } from '../../projects/model.ts';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';

export interface WebhookGates {
  findSubtask(
    customerId: string,
    projectId: string,
    subtaskId: string,
  ): Promise<{ kind: string; gateKind: string | null } | undefined>;
  /** @throws Problem gate_not_waiting, project_ended; what is 500 and above may be tried again */
  resolveWebhookGate(customerId: string, projectId: string, answer: GateCommand): Promise<unknown>;
}

/** Counted in characters of JSON. The answer travels through Temporal, where nothing large belongs. */
const MAX_PAYLOAD = 32_000;

export const createResolveWebhookGate = (gates: WebhookGates) =>
  builtinTool({
    slug: 'pipeline_resolve_webhook_gate',
    area: 'projects',
    description:
      'Approves or rejects a step of a project that waits for an external system (a gate of kind webhook). Use it only ' +
      'to pass on what that system said. Gates that wait for a person cannot be answered this way. Returns ' +
      '{project_id, subtask_id, decision}.',
    // A gate is decided once, so a repetition changes nothing.
    effect: 'idempotent',
    sensitive: true,
    args: z.strictObject({
      project_id: z
        .string()
        .max(100)
        .regex(/^[\w-]+$/, 'expects the id of a project'),
      subtask_id: z.uuid().describe('Id of the gate'),
      decision: z.enum(DECISIONS).default('approved'),
      decided_by: z.string().min(1).max(64).default('webhook').describe('Who decided'),
      payload: z
        .record(z.string(), z.unknown())
        .refine((value) => JSON.stringify(value).length <= MAX_PAYLOAD, `must be at most ${MAX_PAYLOAD} characters`)
        .nullable()
        .default(null)
        .describe('What the system sent; kept with the gate'),
      comment: z.string().max(10_000).nullable().default(null),
    }),
    async execute(args, { customerId }) {
      const { project_id, subtask_id, decision } = args;
      const subtask = await gates.findSubtask(customerId, project_id, subtask_id);
      if (!subtask) throw new ToolError(`project ${project_id} has no subtask ${subtask_id}`);
      if (subtask.kind !== 'gate') throw new ToolError(`subtask ${subtask_id} is not a gate`);
      if (subtask.gateKind !== 'webhook') {
        throw new ToolError(`subtask ${subtask_id} is a gate of kind ${subtask.gateKind}, not webhook`);
      }
      const { decided_by, payload, comment } = args;
      await gates
        .resolveWebhookGate(customerId, project_id, { subtask_id, decision, decided_by, payload, comment })
        .catch((error: unknown) => {
          throw refusalOf(error, subtask_id);
        });
      return { project_id, subtask_id, decision };
    },
  });

const refusalOf = (error: unknown, subtaskId: string): unknown => {
  if (!(error instanceof Problem) || error.status >= 500) return error;
  const isOver = error.code === 'gate_not_waiting' || error.code === 'project_ended';
  return new ToolError(isOver ? `gate ${subtaskId} is not waiting` : error.message);
};
