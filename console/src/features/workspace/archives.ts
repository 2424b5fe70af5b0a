/** Words for what is in an archive of a workspace, as the console calls it elsewhere. */
import { count } from '../../ui/figures.ts';

const WORDS: Readonly<Record<string, string>> = {
  agent_settings: 'settings of agents',
  templates: 'workflows',
  tasks: 'phases',
  subtasks: 'steps',
  chat_threads: 'conversations',
  memory_entries: 'memories and skills',
  memory_edges: 'links between memories',
  manifest_origins: 'things from files',
  miniapp_pages: 'pages of runs',
  webhook_subscriptions: 'webhook endpoints',
  budgets: 'caps',
  topups: 'payments',
  log_events: 'events of the workspace',
  manifests: 'agents, workflows and what belongs to them',
};

/** Returns the number of rows of each table, under the table's name for people. */
export const countsOf = (counts: Readonly<Record<string, number>>): [string, string][] =>
  Object.entries(counts).map(([table, n]) => [WORDS[table] ?? table.replaceAll('_', ' '), count(n)]);
