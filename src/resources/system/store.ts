/** Asks the database about itself, and about the caller. */
import { sql } from 'drizzle-orm';
import { first } from '../../platform/core/present.ts';
import { pausesBehind } from '../../platform/db/circuit.ts';
import { found, type Database } from '../../platform/db/client.ts';
import type { Behind } from '../../platform/db/in-turn.ts';
import type { Backlog, ChoreBehind } from '../../platform/http/metrics.ts';
import { modelsNamed } from '../agents/store.ts';
import { ROUTER_BEHIND } from '../billing/model-router/store.ts';
import { SPENDING_BEHIND } from '../cost/notices/store.ts';
import { SUBMISSIONS_BEHIND } from '../miniapps/store.ts';
import { OUTPUTS_BEHIND, PENDING_OUTPUTS } from '../output-destinations/store/index.ts';
import { projectsBehind } from '../projects/store/lost.ts';
import { OPEN_PROJECTS } from '../projects/store/open.ts';
import { runsBehind } from '../runs/store/lost.ts';
import { TEXTS_BEHIND } from '../run-texts/store.ts';
import { HOLDS_BEHIND } from '../runs/store/queries.ts';
import { OPEN_RUNS } from '../runs/store/open.ts';
import { FOLLOWING_BEHIND } from '../scheduled-jobs/store.ts';
import { TALLIES_BEHIND } from '../tallies/store.ts';
import { PENDING_WEBHOOKS, WEBHOOKS_BEHIND } from '../webhook-subscriptions/store/index.ts';
import type { Plan } from '../workspaces/model.ts';
import { plansOf, WORKSPACES_BEHIND } from '../workspaces/store/fragments.ts';

export type SystemStore = ReturnType<typeof createSystemStore>;

/** @param lostAfterMs work may be under way for this long before Temporal is asked whether it still has it */
export const createSystemStore = (db: Database, { lostAfterMs }: { lostAfterMs: number }) => ({
  /** The models that agents of a workspace name, as they are defined or as it set them. */
  async modelsNamed(customerId: string): Promise<string[]> {
    const named = await db.rows<{ model: string | null }>(sql`
      ${modelsNamed(customerId)}
      order by 1`);
    return named.flatMap(({ model }) => (model && model !== 'auto' ? [model] : []));
  },

  async ping(): Promise<void> {
    await db.rows(sql`select 1`);
  },

  /**
   * Counts the backlog of the whole deployment. Each part has an index of its own, so that what is done costs nothing;
   * gates are found by the projects that are under way.
   */
  backlog: (): Promise<Backlog[]> =>
    db.rows<Backlog>(sql`
      with open(kind, status, created_at) as (
        ${sql.join([OPEN_RUNS, OPEN_PROJECTS, PENDING_WEBHOOKS, PENDING_OUTPUTS], sql` union all `)}
      )
      select kind, status, count(*)::int as count,
        extract(epoch from now() - min(created_at))::float8 as "oldestS"
      from open group by kind, status`),

  /** Counts what each chore of housekeeping that looks after rows has not done yet. */
  async choresBehind(): Promise<ChoreBehind[]> {
    const chores = {
      ...runsBehind(lostAfterMs),
      ...projectsBehind(lostAfterMs),
      ...WEBHOOKS_BEHIND,
      ...OUTPUTS_BEHIND,
      ...SUBMISSIONS_BEHIND,
      ...ROUTER_BEHIND,
      ...TALLIES_BEHIND,
      ...SPENDING_BEHIND,
      ...HOLDS_BEHIND,
      ...TEXTS_BEHIND,
      ...FOLLOWING_BEHIND,
      tellPauses: pausesBehind(['webhook_subscriptions', 'output_destinations']),
      ...WORKSPACES_BEHIND,
    };
    return Promise.all(
      Object.entries(chores).map(async ([chore, behind]) => {
        const row = first(await db.rows<Behind>(sql`select due, "overdueS" from ${behind} behind`));
        return { chore, ...row };
      }),
    );
  },

  /** @throws Problem not_found */
  async planOf(customerId: string): Promise<{ plan: Plan; inForce: Plan }> {
    const [row] = await db.rows<{ plan: Plan; inForce: Plan }>(plansOf(customerId));
    return found(row);
  },
});
