/**
 * Says what becomes of a workspace's rows at its end. Its id may be made again, for somebody else too: then nothing of
 * the life before is there, or reaches into the new one. Each table has one declaration;
 * `test/resources/workspaces/lives.test.ts` fails for a table that has none.
 */
import { sql, type SQL } from 'drizzle-orm';

/**
 * When rows go: with the destruction; or only when somebody makes the workspace again, as until then an archive can be read:
 * before it, in as many steps as there is much, and in the transaction that makes it.
 */
type End = 'destroyed' | 'before made again' | 'made again';

export type Fate =
  | {
      goes: End;
      /** One statement deletes so many rows; fewer where much hangs on each. */
      batch?: number;
      /** Selects other rows than "all with this `customer_id`". @returns ids or places of rows that went */
      statement?: (customerId: string, limit: number) => SQL;
    }
  /** With the row that it refers to: the reference says `on delete cascade`, or is part of that one's statement. */
  | { goesWith: string }
  /** The rows stay, for this reason: nobody of the new life is shown them, or they say nothing of the one before. */
  | { stays: string };

/** Tables stand in the order in which their rows can go: what is referred to comes after what refers to it. */
export const FATES: Readonly<Record<string, Fate>> = {
  // Secrets of third parties are not kept for an archive to be read.
  integration_secrets: { goes: 'destroyed' },
  integration_credentials: { goes: 'destroyed' },

  // The archives themselves go with the files.
  workspace_exports: { goes: 'destroyed' },

  webhook_deliveries: { goes: 'before made again' },
  webhook_delivery_attempts: { goesWith: 'webhook_deliveries' },
  webhook_events: { goes: 'before made again' },
  webhook_subscriptions: { goes: 'before made again' },
  output_deliveries: { goes: 'before made again' },
  output_destinations: { goes: 'before made again' },
  output_recipients: { goesWith: 'output_destinations' },

  projects: { goes: 'before made again', batch: 20, statement: deleteProjects },
  tasks: { goesWith: 'projects' },
  subtasks: { goesWith: 'projects' },
  attempts: { goesWith: 'projects' },
  artifacts: { goesWith: 'projects' },
  project_events: { goesWith: 'projects' },
  project_commands: { goesWith: 'projects' },
  runs: { goes: 'before made again', batch: 100, statement: deleteRuns },
  run_events: { goesWith: 'runs' },
  run_texts: { goesWith: 'runs' },
  run_messages: { goesWith: 'runs' },
  run_tool_calls: { goesWith: 'runs' },
  run_artifacts: { goesWith: 'runs' },
  cost_reservations: { goesWith: 'runs' },
  miniapp_pages: { goesWith: 'runs' },
  waits: { goesWith: 'runs and projects' },
  wait_votes: { goesWith: 'waits' },
  wait_delegations: { goesWith: 'waits' },
  action_links: { goesWith: 'waits' },
  // All budgets but the wallet's, which the ledger keeps: most go with their runs and projects, and caps here.
  budgets: { goes: 'before made again', statement: deleteCaps },

  spending_notices: { goes: 'before made again' },
  log_events: { goes: 'before made again' },
  // What it is of takes it along, by triggers.
  search_documents: { goes: 'before made again' },
  search_backfills: { stays: 'of the deployment' },
  attachments: { goes: 'before made again' },
  chat_threads: { goes: 'before made again' },
  memory_entries: { goes: 'before made again' },
  memory_edges: { goesWith: 'memory_entries' },
  heartbeats: { goes: 'before made again' },
  job_overrides: { goes: 'before made again' },
  scheduled_jobs: { goes: 'before made again' },
  templates: { goes: 'before made again' },
  manifest_origins: { goes: 'before made again' },
  tools: { goes: 'before made again' },
  agent_settings: { goes: 'before made again' },
  agents: { goes: 'before made again' },

  // Members may make the workspace again, and until then an archive shows its keys as revoked.
  api_keys: { goes: 'made again' },
  deploy_tokens: { goes: 'made again' },
  otp_challenges: { goes: 'made again' },
  idempotency_keys: { goes: 'made again' },
  otp_holder_locks: { goes: 'made again' },
  otp_locks: { goes: 'made again' },
  workspace_members: { goes: 'made again' },
  former_members: { goes: 'made again' },
  member_subjects: { goes: 'made again' },

  session_cutoffs: { stays: 'they end what was signed in the life before' },
  workspaces: { stays: 'its generation counts on' },
  audit_log: { stays: 'evidence; a workspace reads what was done in its own life' },
  wallet_ledger: { stays: 'money: credit, and what it was spent on, outlive a workspace as its billing customer does' },
  topups: { stays: 'payments that are under way are credited to the id that paid' },
  billing_events: { stays: 'of the provider: nobody is shown them' },
  billing_leases: { stays: 'seconds' },
  router_keys: { stays: 'the destruction takes the key back from the router, and its row goes then' },
  usage_counters: { stays: 'what a plan allows in a day is not had twice by making a workspace again' },
  crm_customers: { stays: 'notes of the operator, whom alone they are shown to' },
  crm_notes: { stays: 'notes of the operator, whom alone they are shown to' },
  tallies: { stays: 'triggers count what goes' },
  tally_deltas: { stays: 'triggers count what goes' },
  text_watches: { stays: 'seconds' },
  delivery_slots: { stays: 'places at a host, for as long as a request takes' },
  login_challenges: { stays: 'of an address, not of a workspace' },
  login_locks: { stays: 'of an address, not of a workspace' },
  ended_sessions: { stays: 'of a session, not of a workspace' },
  output_mail_counts: { stays: 'what may be mailed in a day is not had twice by making a workspace again' },
  feature_flags: { stays: 'of the deployment' },
  discarded_files: { stays: 'keys that are used once; a row goes with its file' },
};

const BATCH = 500;

const deleteOf =
  (table: string) =>
  (customerId: string, limit: number): SQL => sql`
    delete from ${sql.identifier(table)} where customer_id = ${customerId} and ctid = any(array(
      select ctid from ${sql.identifier(table)} where customer_id = ${customerId} limit ${limit}))
    returning 1`;

function deleteCaps(customerId: string, limit: number): SQL {
  return sql`
    delete from budgets where customer_id = ${customerId} and id = any(array(
      select id from budgets where customer_id = ${customerId} and period is not null limit ${limit}))
    returning 1`;
}

/** A run's budget has no reference to the run, so it is deleted here. */
function deleteRuns(customerId: string, limit: number): SQL {
  return sql`
    with gone as (
      delete from runs where customer_id = ${customerId}
        and id = any(array(select id from runs where customer_id = ${customerId} limit ${limit}))
      returning id
    ), unlimited as (
      delete from budgets where customer_id = ${customerId} and id in (select 'run:' || id from gone))
    select 1 from gone`;
}

/** Budgets of projects and phases have no reference to them either. */
function deleteProjects(customerId: string, limit: number): SQL {
  return sql`
    with chosen as materialized (select id from projects where customer_id = ${customerId} limit ${limit}),
    unlimited as (
      delete from budgets where customer_id = ${customerId} and id in (
        select 'project:' || id from chosen
        union all select 'task:' || t.id from tasks t where t.customer_id = ${customerId} and t.project_id in (select id from chosen))
    ), gone as (delete from projects where customer_id = ${customerId} and id in (select id from chosen) returning 1)
    select 1 from gone`;
}

const ENDS: readonly End[] = ['destroyed', 'before made again', 'made again'];

/**
 * Deletes what goes at this end, and what was to go before it. It can be broken off and repeated.
 * @param step runs one statement; undefined: the rest is not to go now
 * @returns whether nothing is left
 */
export async function forget(
  customerId: string,
  end: End,
  step: (statement: SQL) => Promise<unknown[] | undefined>,
): Promise<boolean> {
  const ends = ENDS.slice(0, ENDS.indexOf(end) + 1);
  for (const [table, fate] of Object.entries(FATES)) {
    if (!('goes' in fate) || !ends.includes(fate.goes)) continue;
    const { batch = BATCH, statement = deleteOf(table) } = fate;
    for (let rows = batch; rows === batch;) {
      const gone = await step(statement(customerId, batch));
      if (!gone) return false;
      rows = gone.length;
    }
  }
  return true;
}
