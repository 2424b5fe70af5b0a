/** Reads what the tools of a run may see of the project that the run works for. */
import { sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/client.ts';
import type { GateKind, StepKind } from '../../templates/model.ts';

export const createProjectReader = (db: Database) => ({
  /** Finds the project of a step's run, also for the runs that it spawned. */
  async projectOfRun(customerId: string, runId: string): Promise<string | undefined> {
    const [row] = await db.rows<{ projectId: string }>(sql`
      select a.project_id as "projectId" from runs r join attempts a on a.id = r.attempt_id
      where r.id = ${runId} and r.customer_id = ${customerId} and a.customer_id = ${customerId}`);
    return row?.projectId;
  },

  /** @param version is the current one where it is left out */
  async findArtifact(
    customerId: string,
    projectId: string,
    phaseSlug: string,
    version?: number,
  ): Promise<{ version: number; content: unknown } | undefined> {
    const [artifact] = await db.rows<{ version: number; content: unknown }>(sql`
      select version, content from artifacts
      where customer_id = ${customerId} and project_id = ${projectId} and phase_slug = ${phaseSlug}
        and ${version === undefined ? sql`not superseded` : sql`version = ${version}`}`);
    return artifact;
  },

  /** @returns the phases that have an artifact, in pipeline order */
  async listArtifactPhases(customerId: string, projectId: string): Promise<string[]> {
    const phases = await db.rows<{ slug: string }>(sql`
      select t.phase_slug as slug from tasks t join artifacts a on a.task_id = t.id and not a.superseded
      where t.customer_id = ${customerId} and t.project_id = ${projectId} order by t.position`);
    return phases.map(({ slug }) => slug);
  },

  async findSubtask(
    customerId: string,
    projectId: string,
    subtaskId: string,
  ): Promise<{ kind: StepKind; gateKind: GateKind | null } | undefined> {
    const [subtask] = await db.rows<{ kind: StepKind; gateKind: GateKind | null }>(sql`
      select kind, gate_kind as "gateKind" from subtasks
      where customer_id = ${customerId} and project_id = ${projectId} and id = ${subtaskId}::uuid`);
    return subtask;
  },
});
