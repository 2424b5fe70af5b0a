/** Queries about what manifests are of, and where it came from. Every one takes the workspace. */
import { and, asc, eq, or, sql, type SQL } from 'drizzle-orm';
import { found, type Database } from '../../platform/db/client.ts';
import { countAgentsWith, namedAgents } from '../agents/store.ts';
import { countHeartbeatsOf, namedHeartbeats } from '../heartbeats/store.ts';
import { namedInFiles, namedSkills } from '../memory/store/entries.ts';
import { namedDestinations } from '../output-destinations/store/index.ts';
import { countOpenVersions } from '../projects/store/open.ts';
import { countOpenRunsBy } from '../runs/store/open.ts';
import { countJobsOf, namedJobs } from '../scheduled-jobs/store.ts';
import { namedWorkflows } from '../templates/store.ts';
import { namedTools } from '../tools/store.ts';
import { namedWebhooks } from '../webhook-subscriptions/store/index.ts';
import { lockOpen } from '../workspaces/store/caps.ts';
import { canonical } from '../../platform/core/json.ts';
import type { ManifestContent, ManifestKind } from './model.ts';
import { manifestOrigins } from './table.ts';

export type ManifestStore = ReturnType<typeof createManifestStore>;
export type OriginRow = typeof manifestOrigins.$inferSelect;
export type NewOrigin = Pick<OriginRow, 'kind' | 'name' | 'file' | 'contentHash'> & { isCreated: boolean };

/** A manifest as it is and as it will be. */
interface Change {
  kind: ManifestKind;
  name: string;
  before: ManifestContent | undefined;
  /** Undefined where it goes. */
  after: ManifestContent | undefined;
}

const counted = (count: number, what: string, one: string, many: string): string[] =>
  count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'} ${count === 1 ? one : many}`];

/** Selects `name` and `created_at` of what the workspace has of a kind; of several versions, those of the first. */
const THINGS: Readonly<Record<ManifestKind, (customerId: string) => SQL>> = {
  tool: namedTools,
  skill: namedSkills,
  memory: namedInFiles,
  agent: namedAgents,
  workflow: namedWorkflows,
  job: namedJobs,
  heartbeat: namedHeartbeats,
  destination: namedDestinations,
  webhook: namedWebhooks,
};

export const createManifestStore = (db: Database) => {
  const countOf = async (statement: SQL): Promise<number> => {
    const [row] = await db.rows<{ count: number }>(statement);
    return found(row).count;
  };

  /** Projects that are not over keep the version that they were started with. */
  async function projectsOf(customerId: string, slug: string): Promise<string[]> {
    const rows = await db.rows<{ version: number; count: number }>(countOpenVersions(customerId, slug));
    return rows.flatMap(({ version, count }) =>
      counted(count, 'active project', `keeps version ${version}`, `keep version ${version}`),
    );
  }

  /** A run that is under way has the agent as it is at each of its turns. */
  async function runBy(customerId: string, slug: string): Promise<string[]> {
    const jobs = await countOf(countJobsOf(customerId, slug));
    const heartbeats = await countOf(countHeartbeatsOf(customerId, slug));
    const runs = await countOf(countOpenRunsBy(customerId, slug));
    return [
      ...counted(jobs, 'scheduled job', 'runs it', 'run it'),
      ...counted(heartbeats, 'heartbeat', 'runs it', 'run it'),
      ...counted(runs, 'run of it', 'is under way', 'are under way'),
    ];
  }

  async function calledBy(customerId: string, slug: string): Promise<string[]> {
    const agents = await countOf(countAgentsWith(customerId, slug));
    return counted(agents, 'agent', 'may call it', 'may call it');
  }

  return {
    /**
     * Lets one transaction at a time apply manifests to a workspace, and nobody make anything of what has a cap in it.
     * @throws Problem not_found, workspace_archived
     */
    lock: (customerId: string): Promise<void> => lockOpen(db, customerId),

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
