/** Queries on custom agents and on what a workspace set about any agent. Every one takes the workspace. */
import { and, asc, eq, getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { first } from '../../platform/core/present.ts';
import { Problem } from '../../platform/core/problem.ts';
import type { Database } from '../../platform/db/client.ts';
import { runInTurn, type RunInTurn } from '../runs/store/run-in-turn.ts';
import { workspaces } from '../workspaces/table.ts';
import { builtinAgents } from './builtin/index.ts';
import { mergeAgent, mergeCustomAgent, type Agent, type AgentSettings, type CustomAgent } from './model.ts';
import { agents, agentSettings } from './table.ts';

export type AgentStore = ReturnType<typeof createAgentStore>;
type NewRow = Omit<typeof agents.$inferInsert, 'customerId' | 'slug' | 'version' | 'createdAt' | 'updatedAt'>;
interface Change {
  definition?: Partial<NewRow>;
  settings?: Partial<AgentSettings>;
}

const agentIs = (customerId: string, slug: string) => and(eq(agents.customerId, customerId), eq(agents.slug, slug));
const settingsAre = (customerId: string, slug: string) =>
  and(eq(agentSettings.customerId, customerId), eq(agentSettings.slug, slug));

const NEXT_VERSION = sql`(${agents.version}::bigint + 1)::text`;
const isEmpty = (change: object): boolean => Object.values(change).every((value) => value === undefined);

/** What a workspace has of an agent, as a row or as JSON, where a time is a text. */
interface StoredAgent {
  custom:
    (Omit<CustomAgent, 'createdAt' | 'updatedAt'> & { createdAt: string | Date; updatedAt: string | Date }) | null;
  settings: AgentSettings | null;
}

/** A row under the names that it has in the code. */
const rowOf = (table: PgTable): SQL => {
  const fields = Object.entries(getTableColumns(table)).map(
    ([name, column]) => sql`${sql.raw(`'${name}'`)}, ${column}`,
  );
  return sql`jsonb_build_object(${sql.join(fields, sql`, `)})`;
};

/** Reads an agent as a part of a larger statement. The value is a `StoredAgent`. */
const storedAgent = (customerId: SQL, slug: SQL): SQL => sql`jsonb_build_object(
  'custom', (select ${rowOf(agents)} from ${agents} where ${agents.customerId} = ${customerId} and ${agents.slug} = ${slug}),
  'settings', (select ${rowOf(agentSettings)} from ${agentSettings}
    where ${agentSettings.customerId} = ${customerId} and ${agentSettings.slug} = ${slug}))`;

/** @returns the agent, where there is one. A built-in that came later does not displace a custom agent. */
function agentOf(slug: string, { custom, settings }: StoredAgent): Agent | undefined {
  if (custom) {
    const { createdAt, updatedAt } = custom;
    return mergeCustomAgent({ ...custom, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) }, settings);
  }
  const builtin = builtinAgents.get(slug);
  return builtin && mergeAgent(builtin, settings);
}

export interface RunWithAgent extends RunInTurn {
  /** The agent that the run names, where there still is one. */
  named: Agent | undefined;
}

export const createAgentStore = (db: Database) => ({
  async loadAgent(customerId: string, slug: string): Promise<Agent | undefined> {
    const [row] = await db.orm
      .select({ custom: agents, settings: agentSettings })
      .from(workspaces)
      .leftJoin(agents, and(eq(agents.customerId, workspaces.customerId), eq(agents.slug, slug)))
      .leftJoin(agentSettings, and(eq(agentSettings.customerId, workspaces.customerId), eq(agentSettings.slug, slug)))
      .where(eq(workspaces.customerId, customerId));
    return agentOf(slug, { custom: row?.custom ?? null, settings: row?.settings ?? null });
  },

  /** Loads what a turn needs to know of its run, and the agent that the run names, in one statement. */
  async loadRunInTurn(runId: string): Promise<RunWithAgent | undefined> {
    const named = storedAgent(sql`r.customer_id`, sql`r.agent`);
    const [row] = await db.rows<RunInTurn & { stored: StoredAgent }>(runInTurn(runId, sql`, ${named} as stored`));
    if (!row) return undefined;
    const { stored, ...run } = row;
    return { ...run, named: run.agent === null ? undefined : agentOf(run.agent, stored) };
  },

  /** Asking for a built-in agent costs no query. */
  isAgent: async (customerId: string, slug: string): Promise<boolean> =>
    builtinAgents.has(slug) || (await db.orm.$count(agents, agentIs(customerId, slug))) > 0,

  /** @returns built-in agents in their own order, then custom ones by slug */
  async listAgents(customerId: string): Promise<Agent[]> {
    const rows = await db.orm.select().from(agentSettings).where(eq(agentSettings.customerId, customerId));
    const settings = new Map(rows.map((row) => [row.slug, row]));
    const custom = await db.orm
      .select()
      .from(agents)
      .where(eq(agents.customerId, customerId))
      .orderBy(asc(agents.slug));
    const displaced = new Set(custom.map(({ slug }) => slug));
    return [
      ...[...builtinAgents.values()]
        .filter(({ slug }) => !displaced.has(slug))
        .map((builtin) => mergeAgent(builtin, settings.get(builtin.slug))),
      ...custom.map((agent) => mergeCustomAgent(agent, settings.get(agent.slug))),
    ];
  },

  countCustom: async (customerId: string): Promise<number> => db.orm.$count(agents, eq(agents.customerId, customerId)),

  /** @throws Problem slug_taken */
  async insertAgent(customerId: string, slug: string, agent: NewRow, settings: Partial<AgentSettings>): Promise<void> {
    if (builtinAgents.has(slug)) throw new Problem('slug_taken');
    await db.transaction(async () => {
      const inserted = await db.orm
        .insert(agents)
        .values({ ...agent, customerId, slug })
        .onConflictDoNothing()
        .returning({ slug: agents.slug });
      if (inserted.length === 0) throw new Problem('slug_taken');
      // A built-in agent of this name may have gone and left settings: they are not this agent's.
      await db.orm.delete(agentSettings).where(settingsAre(customerId, slug));
      await db.orm.insert(agentSettings).values({ ...settings, customerId, slug });
    });
  },

  /**
   * Changes a custom agent's definition, what the workspace set about any agent, or both. Gives the settings as they
   * were, read under a lock: of two who replace a picture each learns of another one to delete.
   * @throws Problem not_found
   */
  async changeAgent(
    customerId: string,
    slug: string,
    { definition = {}, settings = {} }: Change,
  ): Promise<AgentSettings> {
    return db.transaction(async () => {
      // This comes first, also where the definition stays: it locks the agent, so that settings never outlive a deleted
      // one.
      const custom = await db.orm
        .update(agents)
        .set({ ...definition, ...(isEmpty(definition) ? {} : { version: NEXT_VERSION }), updatedAt: sql`now()` })
        .where(agentIs(customerId, slug))
        .returning({ slug: agents.slug });
      if (custom.length === 0 && !builtinAgents.has(slug)) throw new Problem('not_found');
      await db.orm.insert(agentSettings).values({ customerId, slug }).onConflictDoNothing();
      const before = first(
        await db.orm.select().from(agentSettings).where(settingsAre(customerId, slug)).for('update'),
      );
      await db.orm
        .update(agentSettings)
        .set({ ...settings, updatedAt: sql`now()` })
        .where(settingsAre(customerId, slug));
      return before;
    });
  },

  /**
   * Deletes a custom agent with its settings.
   * @returns the picture that nothing refers to any more
   * @throws Problem not_found
   */
  async deleteAgent(customerId: string, slug: string): Promise<{ avatarFile: string | null }> {
    return db.transaction(async () => {
      const deleted = await db.orm.delete(agents).where(agentIs(customerId, slug)).returning({ slug: agents.slug });
      if (deleted.length === 0) throw new Problem('not_found');
      const [settings] = await db.orm
        .delete(agentSettings)
        .where(settingsAre(customerId, slug))
        .returning({ avatarFile: agentSettings.avatarFile });
      return { avatarFile: settings?.avatarFile ?? null };
    });
  },
});

/** Selects `name` and `created_at` of the agents of a workspace. */
export const namedAgents = (customerId: string): SQL =>
  sql`select slug as name, created_at from agents where customer_id = ${customerId}`;

/** Counts the agents that may call a tool. */
export const countAgentsWith = (customerId: string, tool: string): SQL => sql`
  select count(*)::int as count from agents where customer_id = ${customerId} and ${tool} = any(allowed_tools)`;

/** Selects `model`, as agents name it, or as the workspace set it for them. */
export const modelsNamed = (customerId: string): SQL => sql`
  select model from agents where customer_id = ${customerId}
  union
  select unnest(array[model, default_model]) from agent_settings where customer_id = ${customerId}`;

/** Counts the agents of a workspace, for a statement of others. */
export const agentCount = (customerId: SQL): SQL =>
  sql`(select count(*)::int from agents counted where counted.customer_id = ${customerId})`;
