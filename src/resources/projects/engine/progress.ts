/** Records what is told of a step while its run goes on: that it is alive, and that the budget is nearly used up. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import { noteProjectEvents } from '../store/record.ts';

interface Progress {
  projectId: string;
  customerId: string;
  taskId: string;
  subtaskId: string;
  number: number;
  runId: string;
  costUsd: string;
  warned: { spent_usd: string; budget_usd: string } | null;
}

/** The warning is given once for each budget that is set. */
export async function noteTurn(
  db: Database,
  { attemptId, turn, isLast }: { attemptId: string; turn: number; isLast: boolean },
): Promise<void> {
  await db.transaction(async () => {
    const [progress] = await db.rows<Progress>(sql`
      with warned as (
        update projects p set is_cost_warned = true
        from budgets b, attempts a
        where a.id = ${attemptId}::uuid and p.id = a.project_id and b.id = 'project:' || p.id and not p.is_cost_warned
          and p.cost_budget_usd is not null and b.spent_usd >= p.cost_warning_threshold * p.cost_budget_usd
        returning trim_scale(b.spent_usd)::text as spent_usd, trim_scale(p.cost_budget_usd)::text as budget_usd
      )
      select a.project_id as "projectId", a.customer_id as "customerId", a.task_id as "taskId",
        a.subtask_id as "subtaskId", a.attempt_number as number, a.child_run_id as "runId",
        trim_scale(a.cost_usd)::text as "costUsd",
        (select to_jsonb(warned) from warned) as warned
      from attempts a where a.id = ${attemptId}::uuid`);
    if (!progress) return;
    const { projectId, customerId, taskId, subtaskId, number, runId, costUsd, warned } = progress;
    const about = { taskId, subtaskId, attemptNumber: number };
    await noteProjectEvents(db, { id: projectId, customerId }, [
      ...(isLast
        ? []
        : [{ topic: 'subtask_alive' as const, ...about, payload: { turn, run_id: runId, cost_usd: costUsd } }]),
      ...(warned ? [{ topic: 'cost_threshold_warning' as const, ...about, payload: warned }] : []),
    ]);
  });
}
