/** Queries on the files that runs saved. The store of runs writes the rows. */
import { and, count, desc, eq } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import type { Database } from '../../platform/db/client.ts';
import { runArtifacts, runs } from '../runs/table.ts';
import { belowPlace, countRows, findPage, listFilters } from '../tallies/store.ts';

export type RunArtifactStore = ReturnType<typeof createRunArtifactStore>;
export type RunArtifactRow = Awaited<ReturnType<RunArtifactStore['list']>>['rows'][number];

export interface ArtifactFilter {
  run_id?: string | undefined;
  agent?: string | undefined;
}

const columns = {
  id: runArtifacts.id,
  run_id: runArtifacts.runId,
  agent: runArtifacts.agent,
  filename: runArtifacts.filename,
  content_type: runArtifacts.contentType,
  size_bytes: runArtifacts.sizeBytes,
  sha256: runArtifacts.sha256,
  created_at: runArtifacts.createdAt,
};

const chooseArtifacts = listFilters('run_artifacts', runArtifacts.customerId, {
  agent: (agent: string) => eq(runArtifacts.agent, agent),
});

export const createRunArtifactStore = (db: Database) => ({
  async hasRun(customerId: string, runId: string): Promise<boolean> {
    return (await db.orm.$count(runs, and(eq(runs.id, runId), eq(runs.customerId, customerId)))) > 0;
  },

  async list(
    customerId: string,
    { run_id, ...filter }: ArtifactFilter,
    { limit, offset }: { limit: number; offset: number },
  ) {
    const { where: chosen, tallied } = chooseArtifacts(customerId, filter);
    const where = and(chosen, run_id === undefined ? undefined : eq(runArtifacts.runId, run_id));
    // One run has few files, so they are counted.
    const start = run_id === undefined ? await findPage(db, tallied, offset) : { below: undefined, offset };
    const rows = await db.orm
      .select(columns)
      .from(runArtifacts)
      .where(and(where, belowPlace(runArtifacts.id, start)))
      .orderBy(desc(runArtifacts.id))
      .limit(limit)
      .offset(start.offset);
    if (run_id === undefined) return { rows, total: await countRows(db, tallied) };
    const ofRun = first(await db.orm.select({ total: count() }).from(runArtifacts).where(where));
    return { rows, total: ofRun.total };
  },

  async find(customerId: string, id: string) {
    const [row] = await db.orm
      .select(columns)
      .from(runArtifacts)
      .where(and(eq(runArtifacts.id, id), eq(runArtifacts.customerId, customerId)));
    return row;
  },
});
