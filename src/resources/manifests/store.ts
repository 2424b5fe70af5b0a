/** Queries about what manifests are of. Every one takes the workspace. */
import { sql } from 'drizzle-orm';
import { Problem } from '../../platform/core/problem.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { openStatus } from '../workspaces/store/caps.ts';
import { workspaces } from '../workspaces/table.ts';
import { canonical } from './diff.ts';
import type { Content, ManifestKind } from './model.ts';

export type ManifestStore = ReturnType<typeof createManifestStore>;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export const createManifestStore = (db: Database) => {
  /** Projects that are not over keep the version that they were started with. */
  async function projectsOf(customerId: string, slug: string): Promise<string[]> {
    const rows = await db.rows<{ version: number; count: number }>(sql`
      select workflow_version as version, count(*)::int as count from projects
      where customer_id = ${customerId} and workflow_slug = ${slug}
        and status in ('planning', 'active', 'paused')
      group by workflow_version order by workflow_version desc`);
    return rows.map(
      ({ version, count }) =>
        `${counted(count, 'active project')} ${count === 1 ? 'keeps' : 'keep'} version ${version}`,
    );
  }

  /** A run that is under way goes on with what it began with, until its next turn. */
  async function namedBy(customerId: string, slug: string): Promise<string[]> {
    const rows = await db.rows<{ what: string; count: number }>(sql`
      select 'job' as what, count(*)::int as count from scheduled_jobs
        where customer_id = ${customerId} and agent_slug = ${slug}
      union all
      select 'heartbeat', count(*)::int from heartbeats where customer_id = ${customerId} and agent_slug = ${slug}
      union all
      select 'run under way', count(*)::int from runs
        where customer_id = ${customerId} and agent = ${slug} and status in ('queued', 'running')`);
    const [job, heartbeat, runs] = ['job', 'heartbeat', 'run under way'].map(
      (what) => rows.find((row) => row.what === what)?.count ?? 0,
    );
    return [
      ...(job ? [`${counted(job, 'scheduled job')} run${job === 1 ? 's' : ''} it`] : []),
      ...(heartbeat ? [`${counted(heartbeat, 'heartbeat')} run${heartbeat === 1 ? 's' : ''} it`] : []),
      ...(runs ? [`${counted(runs, 'run')} under way ${runs === 1 ? 'goes' : 'go'} on with it`] : []),
    ];
  }

  return {
    /**
     * Lets one transaction at a time apply manifests to a workspace, and nobody make anything of what has a cap in it.
     * @throws Problem not_found, workspace_archived
     */
    async lock(customerId: string): Promise<void> {
      const [row] = await db.rows<{ status: string }>(sql`
        select ${openStatus} as status from ${workspaces} where ${workspaces.customerId} = ${customerId}
        for no key update`);
      if (found(row).status === 'archived') throw new Problem('workspace_archived');
    },

    /** @returns sentences about what goes on with what it was, or is changed with it */
    async affectedBy(
      customerId: string,
      kind: ManifestKind,
      name: string,
      before: Content,
      after: Content | undefined,
    ): Promise<string[]> {
      if (kind === 'agent') return namedBy(customerId, name);
      if (kind !== 'workflow') return [];
      const isSame = after && canonical(before['phases']) === canonical(after['phases']);
      return isSame ? [] : projectsOf(customerId, name);
    },
  };
};
