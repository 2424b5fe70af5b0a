/** An edit session whose plan is approved and about to be enacted, without its planner. */
import { sql } from 'drizzle-orm';
import type { EditAction } from '../../../../src/resources/projects/edit-plans/model.ts';
import type { Actor, Cascade } from '../../../../src/resources/projects/model.ts';
import type { InsertedProject } from '../../../support/fixtures/projects-store.ts';
import { db } from './acme.ts';
import type { createDriver } from './driver.ts';

interface Plan {
  actions: EditAction[];
  cascade: Cascade;
  /** Who approves the plan; somebody else has asked for it. */
  by: Actor;
  /** They send the plan themselves, where it is `edit_plan`. */
  decision?: 'approved' | 'edit_plan';
}

export async function enactableSession(
  { engine, by: asker }: ReturnType<typeof createDriver>,
  { id: projectId, customerId }: InsertedProject,
  { actions, cascade, by, decision = 'approved' }: Plan,
) {
  const asked = { ...asker({ kind: 'human', id: 'asker@acme.example' }), instruction: 'As I say', cascade };
  const ids = await engine.startEditSession({ projectId, ...asked });
  const taskId = ids.task_id;
  await db.rows(sql`update tasks set status = 'running', iteration = 1 where id = ${taskId}::uuid`);
  await db.rows(sql`
    insert into attempts (id, project_id, task_id, subtask_id, customer_id, attempt_number, attempt_reason, status, output,
      completed_at)
    values (gen_random_uuid(), ${projectId}, ${taskId}::uuid, ${ids.planner_subtask_id}::uuid, ${customerId}, 1, 'initial',
      'succeeded', ${JSON.stringify({ summary: '', actions: decision === 'approved' ? actions : [] })}::jsonb, now())`);
  await db.rows(sql`
    update subtasks set status = 'blocked' where id = ${ids.gate_subtask_id}::uuid`);
  const revisedPlan = decision === 'edit_plan' ? { summary: '', actions } : null;
  const said = { decision, comment: null, revisedPlan, decidedBy: by.id ?? by.kind };
  await engine.resolveEditPlan({ projectId, taskId, ...said, actor: by, commandId: `approve-${taskId}` });
  return { projectId, taskId, subtaskId: ids.enact_subtask_id, iteration: 1 };
}
