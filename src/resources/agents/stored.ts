/** Reads what a workspace has of an agent as a part of a larger statement, as a turn of a run does with its own. */
import { getTableColumns, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { builtinAgents } from './builtin/index.ts';
import { mergeAgent, mergeCustomAgent, type Agent, type AgentSettings, type CustomAgent } from './model.ts';
import { agents, agentSettings } from './table.ts';

/** An agent as JSON has it, where a time is a text. */
export interface StoredAgent {
  custom: (Omit<CustomAgent, 'createdAt' | 'updatedAt'> & { createdAt: string; updatedAt: string }) | null;
  settings: AgentSettings | null;
}

/** A row under the names that it has in the code. */
const rowOf = (table: PgTable): SQL => {
  const fields = Object.entries(getTableColumns(table)).map(
    ([name, column]) => sql`${sql.raw(`'${name}'`)}, ${column}`,
  );
  return sql`jsonb_build_object(${sql.join(fields, sql`, `)})`;
};

/** The value is a `StoredAgent`. */
export const storedAgent = (customerId: SQL, slug: SQL): SQL => sql`jsonb_build_object(
  'custom', (select ${rowOf(agents)} from ${agents} where ${agents.customerId} = ${customerId} and ${agents.slug} = ${slug}),
  'settings', (select ${rowOf(agentSettings)} from ${agentSettings}
    where ${agentSettings.customerId} = ${customerId} and ${agentSettings.slug} = ${slug}))`;

/** @returns the agent, where there is one. A built-in that came later does not displace a custom agent. */
export function agentOf(slug: string, { custom, settings }: StoredAgent): Agent | undefined {
  if (custom) {
    const { createdAt, updatedAt } = custom;
    return mergeCustomAgent({ ...custom, createdAt: new Date(createdAt), updatedAt: new Date(updatedAt) }, settings);
  }
  const builtin = builtinAgents.get(slug);
  return builtin && mergeAgent(builtin, settings);
}
