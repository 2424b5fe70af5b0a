/**
 * Counts the ends of projects. A repeated command answers like the first one, so the row is read before the command to
 * tell them apart.
 */
import { sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/client.ts';
import type { Meters } from '../../platform/observability/meters.ts';
import type { ProjectEngine } from './store/engine/index.ts';

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
  async function count(projectId: string, before: string | undefined, outcome: 'completed' | 'abandoned') {
    const [row] = await db.rows<{ status: string; slug: string; ageS: number }>(sql`
      select status, workflow_slug as slug, extract(epoch from now() - created_at)::float8 as "ageS"
      from projects where id = ${projectId}`);
    if (row?.status !== outcome || before === outcome) return;
    projects.observe({ template: templateLabel(row.slug), outcome }, row.ageS);
  }

  return {
    ...engine,
    async completeProject(ref) {
      const before = await statusOf(ref.projectId);
      const answer = await engine.completeProject(ref);
      await count(ref.projectId, before, 'completed');
      return answer;
    },
    async abandonProject(command) {
      const before = await statusOf(command.projectId);
      const answer = await engine.abandonProject(command);
      await count(command.projectId, before, 'abandoned');
      return answer;
    },
  };
}
