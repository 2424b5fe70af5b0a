/**
 * Counts the ends of projects. An abandonment that is repeated answers like the first one, so the row is read before it
 * to tell them apart; a completion says itself whether it is the first.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { Meters } from '../../platform/observability/meters.ts';
import type { ProjectEngine } from './engine/index.ts';

/** @param templateLabel names templates that ship; those of workspaces are `custom` */
export function meteredProjects(
  engine: ProjectEngine,
  db: Database,
  { projects }: Pick<Meters, 'projects'>,
  templateLabel: (slug: string) => string,
): ProjectEngine {
  async function statusOf(projectId: string): Promise<string | undefined> {
    const [row] = await db.rows<{ status: string }>(sql`select status from projects where id = ${projectId}`);
    return row?.status;
  }

  /** @param before is the project's status when the command began */
  async function countAbandoned(projectId: string, before: string | undefined) {
    const [row] = await db.rows<{ status: string; slug: string; ageS: number }>(sql`
      select status, workflow_slug as slug, extract(epoch from now() - created_at)::float8 as "ageS"
      from projects where id = ${projectId}`);
    if (row?.status !== 'abandoned' || before === 'abandoned') return;
    projects.observe({ template: templateLabel(row.slug), outcome: 'abandoned' }, row.ageS);
  }

  return {
    ...engine,
    async completeProject(ref) {
      const answer = await engine.completeProject(ref);
      const { ended } = answer;
      if (ended) projects.observe({ template: templateLabel(ended.workflowSlug), outcome: 'completed' }, ended.ageS);
      return answer;
    },
    async abandonProject(command) {
      const before = await statusOf(command.projectId);
      const answer = await engine.abandonProject(command);
      await countAbandoned(command.projectId, before);
      return answer;
    },
  };
}
