/**
 * Lets a person ask for changes: a planner proposes a plan, a gate has a person approve it, and an action carries it
 * out.
 */
import { sql } from 'drizzle-orm';
import type { EditSessionIds } from '../../../../workflows/project/messages.ts';
import { newUuid } from '../../../platform/core/ids.ts';
import { first } from '../../../platform/core/present.ts';
import type { Database } from '../../../platform/db/client.ts';
import { budgets } from '../../runs/table.ts';
import { editSessionSlug, ENACT_ACTION, type Actor, type Cascade, type PhaseChange } from '../model.ts';
import { editPlanSchema } from './model.ts';
import { subtasks, tasks } from '../table.ts';
import { noteProjectEvents } from '../store/record.ts';
import { refuseAbandoned, reopen, runCommand } from '../control/run-command.ts';
import { plannerInstructions, type PlannedPhase } from './planner-instructions.ts';

const MAX_ATTEMPTS = 3;
const MAX_TITLE = 80;

export interface StartEditSessionArgs {
  projectId: string;
  instruction: string;
  /** The changes that the session makes cascade like this. */
  cascade: Cascade;
  actor: Actor;
  commandId: string;
}

/** @throws Problem not_found, project_ended */
export const startEditSession = (
  db: Database,
  { projectId, instruction, cascade, actor, commandId }: StartEditSessionArgs,
): Promise<EditSessionIds & { change: PhaseChange }> =>
  runCommand(db, { projectId, commandId }, async (project) => {
    refuseAbandoned(project);
    const { customerId } = project;
    const { position, earlier } = await placeAtEnd(db, projectId);
    const phases = await listPlannedPhases(db, projectId);
    const [taskId, plannerId, gateId, enactId] = [newUuid(), newUuid(), newUuid(), newUuid()];
    const slug = editSessionSlug(earlier + 1);
    const session = { projectId, taskId, customerId, maxAttempts: MAX_ATTEMPTS };
    await reopen(db, project, actor);
    await db.orm.insert(tasks).values({
      id: taskId,
      projectId,
      customerId,
      position,
      phaseSlug: slug,
      taskKind: 'edit_session',
      instruction,
      title: titleOf(instruction),
      cascadeMode: cascade,
      nextReason: 'edit_session',
    });
    await db.orm.insert(subtasks).values([
      {
        ...session,
        id: plannerId,
        position: 0,
        stepSlug: 'planner',
        title: 'Plan the changes',
        kind: 'agent',
        role: 'producer',
        assignee: 'planner',
        tools: ['read_artifact'],
        instructions: plannerInstructions({ title: project.title, instruction, cascade, phases }),
        outputSchema: editPlanSchema(phases.map((phase) => phase.slug)),
      },
      {
        ...session,
        id: gateId,
        position: 1,
        stepSlug: 'approve_plan',
        title: 'Approve the plan',
        kind: 'gate',
        role: 'gatekeeper',
        gateKind: 'human',
        dependsOn: ['planner'],
        gateConfig: { prompt: 'Approve, change or reject what the planner proposes. Nothing has been changed yet.' },
      },
      {
        ...session,
        id: enactId,
        position: 2,
        stepSlug: 'enact',
        title: 'Enact the plan',
        kind: 'action',
        role: 'utility',
        assignee: ENACT_ACTION,
        dependsOn: ['approve_plan'],
      },
    ]);
    await db.orm.insert(budgets).values({ id: `task:${taskId}`, customerId });
    const payload = { phase_slug: slug, cascade, title: titleOf(instruction) };
    await noteProjectEvents(db, project, [{ topic: 'edit_session_started', taskId, actor, payload }]);
    return {
      task_id: taskId,
      planner_subtask_id: plannerId,
      gate_subtask_id: gateId,
      enact_subtask_id: enactId,
      change: { slug, status: 'pending', taskId },
    };
  });

function titleOf(instruction: string): string {
  const characters = [...instruction.trim().replace(/\s+/g, ' ')];
  return `Edit: ${characters.slice(0, MAX_TITLE).join('')}`;
}

async function placeAtEnd(db: Database, projectId: string) {
  return first(
    await db.rows<{ position: number; earlier: number }>(sql`
    select coalesce(max(position), -1) + 1 as position,
      (count(*) filter (where task_kind = 'edit_session'))::int as earlier
    from tasks where project_id = ${projectId}`),
  );
}

const listPlannedPhases = (db: Database, projectId: string): Promise<PlannedPhase[]> =>
  db.rows<PlannedPhase>(sql`
    select t.phase_slug as slug, t.title, t.status, t.depends_on as "dependsOn", a.version
    from tasks t left join artifacts a on a.task_id = t.id and not a.superseded
    where t.project_id = ${projectId} and t.task_kind = 'regular' order by t.position`);
