/** Queries about what manifests are of, and where it came from. Every one takes the workspace. */
import { and, asc, eq, or, sql, type SQL } from 'drizzle-orm';
import { Problem } from '../../platform/core/problem.ts';
import { found, type Database } from '../../platform/db/client.ts';
import { openStatus } from '../workspaces/store/caps.ts';
import { workspaces } from '../workspaces/table.ts';
import { canonical } from '../../platform/core/json.ts';
import type { Content, ManifestKind } from './model.ts';
import { manifestOrigins } from './table.ts';
import { OPEN_RUN } from '../runs/store/statuses.ts';
import { OPEN_PROJECT } from '../projects/store/statuses.ts';

export type ManifestStore = ReturnType<typeof createManifestStore>;
export type OriginRow = typeof manifestOrigins.$inferSelect;
export type NewOrigin = Pick<OriginRow, 'kind' | 'name' | 'file' | 'contentHash'> & { isCreated: boolean };

/** A manifest as it is and as it will be. */
interface Change {
  kind: ManifestKind;
  name: string;
  before: Content | undefined;
  /** Undefined where it goes. */
  after: Content | undefined;
}

const counted = (count: number, what: string, one: string, many: string): string[] =>
  count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'} ${count === 1 ? one : many}`];

/** Selects `name` and `created_at` of what the workspace has of a kind; of several versions, those of the first. */
const THINGS: Readonly<Record<ManifestKind, (customerId: string) => SQL>> = {
  tool: (customerId) => sql`select slug as name, created_at from tools where customer_id = ${customerId}`,
  skill: (customerId) => sql`
    select slug as name, created_at from memory_entries where customer_id = ${customerId} and type = 'skill'`,
  memory: (customerId) => sql`
    select slug as name, created_at from memory_entries
    where customer_id = ${customerId} and type <> 'skill' and status = 'active' and (meta ->> 'in_files') = 'true'`,
  agent: (customerId) => sql`select slug as name, created_at from agents where customer_id = ${customerId}`,
  workflow: (customerId) => sql`
    select slug as name, min(created_at) as created_at from templates
    where customer_id = ${customerId} and status = 'active' group by slug`,
  job: (customerId) => sql`select name, created_at from scheduled_jobs where customer_id = ${customerId}`,
  heartbeat: (customerId) => sql`select name, created_at from heartbeats where customer_id = ${customerId}`,
  destination: (customerId) => sql`
    select name, created_at from output_destinations where customer_id = ${customerId}`,
  webhook: (customerId) => sql`
    select url as name, created_at from webhook_subscriptions where customer_id = ${customerId}`,
};

export const createManifestStore = (db: Database) => {
  const countOf = async (statement: SQL): Promise<number> => {
    const [row] = await db.rows<{ count: number }>(statement);
    return found(row).count;
  };

  /** Projects that are not over keep the version that they were started with. */
  async function projectsOf(customerId: string, slug: string): Promise<string[]> {
    const rows = await db.rows<{ version: number; count: number }>(sql`
      select workflow_version as version, count(*)::int as count from projects
      where customer_id = ${customerId} and workflow_slug = ${slug}
        and status in ${OPEN_PROJECT}
      group by workflow_version order by workflow_version desc`);
    return rows.flatMap(({ version, count }) =>
      counted(count, 'active project', `keeps version ${version}`, `keep version ${version}`),
    );
  }

  /** A run that is under way has the agent as it is at each of its turns. */
  async function runBy(customerId: string, slug: string): Promise<string[]> {
    const of = sql`where customer_id = ${customerId} and agent_slug = ${slug}`;
    const jobs = await countOf(sql`select count(*)::int as count from scheduled_jobs ${of}`);
    const heartbeats = await countOf(sql`select count(*)::int as count from heartbeats ${of}`);
    const runs = await countOf(sql`
      select count(*)::int as count from runs
      where customer_id = ${customerId} and agent = ${slug} and status in ${OPEN_RUN}`);
    return [
      ...counted(jobs, 'scheduled job', 'runs it', 'run it'),
      ...counted(heartbeats, 'heartbeat', 'runs it', 'run it'),
      ...counted(runs, 'run of it', 'is under way', 'are under way'),
    ];
  }

  async function calledBy(customerId: string, slug: string): Promise<string[]> {
    const agents = await countOf(sql`
      select count(*)::int as count from agents where customer_id = ${customerId} and ${slug} = any(allowed_tools)`);
    return counted(agents, 'agent', 'may call it', 'may call it');
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
    async affectedBy(customerId: string, { kind, name, before, after }: Change): Promise<string[]> {
      if (kind === 'agent') return runBy(customerId, name);
      if (kind === 'tool') return calledBy(customerId, name);
      if (kind !== 'workflow') return [];
      const isSame = after && canonical(before?.['phases']) === canonical(after['phases']);
      return isSame ? [] : projectsOf(customerId, name);
    },

    origins: (customerId: string): Promise<OriginRow[]> =>
      db.orm
        .select()
        .from(manifestOrigins)
        .where(eq(manifestOrigins.customerId, customerId))
        .orderBy(asc(manifestOrigins.kind), asc(manifestOrigins.name)),

    /**
     * Returns those of these names that files made. A thing that was deleted and made again by hand since is not among
     * them, nor is one that was there before a file named it.
     */
    async madeByFiles(customerId: string, kind: ManifestKind, names: readonly string[]): Promise<string[]> {
      const rows = await db.rows<{ name: string }>(sql`
        select o.name from ${manifestOrigins} o join (${THINGS[kind](customerId)}) thing on thing.name = o.name
        where o.customer_id = ${customerId} and o.kind = ${kind} and o.name = any(${sql.param(names)}::text[])
        group by o.name, o.created_at having max(thing.created_at) <= o.created_at`);
      return rows.map(({ name }) => name);
    },

    async noteOrigins(
      customerId: string,
      origins: readonly NewOrigin[],
      by: Pick<OriginRow, 'source' | 'revision' | 'appliedBy'>,
    ): Promise<void> {
      for (const { isCreated, ...origin } of origins) {
        const createdAt = sql`clock_timestamp()`;
        const values = { ...origin, ...by, ...(isCreated && { createdAt }) };
        await db.orm
          .insert(manifestOrigins)
          .values({ ...values, customerId })
          .onConflictDoUpdate({
            target: [manifestOrigins.customerId, manifestOrigins.kind, manifestOrigins.name],
            set: { ...values, appliedAt: sql`now()` },
          });
      }
    },

    async forgetOrigins(customerId: string, gone: readonly { kind: ManifestKind; name: string }[]): Promise<void> {
      if (gone.length === 0) return;
      const those = gone.map(({ kind, name }) => and(eq(manifestOrigins.kind, kind), eq(manifestOrigins.name, name)));
      await db.orm.delete(manifestOrigins).where(and(eq(manifestOrigins.customerId, customerId), or(...those)));
    },
  };
};
