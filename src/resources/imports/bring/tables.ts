/**
 * Says which tables of an archive are brought into a workspace, and how; and of each other one, why it is not.
 * `test/resources/imports/tables.test.ts` fails for a table that goes out and has no line here.
 *
 * A row of an archive is somebody's word. So it is put under the workspace that it is brought to, whatever it says; of what it
 * refers to by a reference of the database, it is asked whether that is of the workspace; and nothing of it begins to work.
 */
import { sql, type SQL } from 'drizzle-orm';
import type { IdKind } from './ids.ts';

export interface BroughtTable {
  /** Columns with ids, which are others where those of the archive are taken. */
  ids: Readonly<Record<string, IdKind>>;
  /** Columns that are objects, with the fields of theirs that are such ids. */
  idsWithin?: Readonly<Record<string, Readonly<Record<string, IdKind>>>>;
  /** The row that it belongs to: it has to be of the workspace. */
  parent?: { column: string; table: string };
  /** Says it of what belongs to one of several. */
  fits?: (customerId: string) => SQL;
  /** These are not the archive's: the value is one of this deployment, or the column's default (undefined). */
  own: Readonly<Record<string, ((customerId: string) => SQL) | undefined>>;
  /** Another row that says the same, where no index of the database does. */
  unless?: (customerId: string) => SQL;
  /** It has no column of the workspace: its parent's says whose it is. */
  isParentsOwn?: true;
}

const NOTHING = (): SQL => sql`null`;
/** Where the bytes will lie: made of the row's id, so that it is the same each time, and in a folder that ends with the workspace. */
const keyIn =
  (area: string) =>
  (customerId: string): SQL =>
    sql`${`${area}/${customerId}/imported/`}::text || r.id::text`;
const NEW_PLACE = { tx: undefined, seq: undefined };
const project = { column: 'project_id', table: 'projects' };
const run = { column: 'run_id', table: 'runs' };

/** As events name what they are about. */
const ID_FIELDS = {
  run_id: 'run',
  project_id: 'project',
  task_id: 'uuid',
  subtask_id: 'uuid',
  attempt_id: 'uuid',
  artifact_id: 'uuid',
  wait_id: 'uuid',
} as const;

/** What was brought before these were renewed has them as they were in the archive. */
const NAMED = sql.param(Object.keys(ID_FIELDS));

/** In the order in which they are in an archive: what is referred to comes first. */
export const BROUGHT_TABLES: Readonly<Record<string, BroughtTable>> = {
  chat_threads: { ids: { id: 'uuid' }, own: {} },
  projects: { ids: { id: 'project' }, own: { seq: undefined, start_due_at: NOTHING } },
  tasks: { ids: { id: 'uuid', project_id: 'project' }, parent: project, own: {} },
  subtasks: {
    ids: { id: 'uuid', project_id: 'project', task_id: 'uuid' },
    parent: { column: 'task_id', table: 'tasks' },
    own: {},
  },
  attempts: {
    ids: { id: 'uuid', project_id: 'project', task_id: 'uuid', subtask_id: 'uuid', child_run_id: 'run' },
    parent: { column: 'subtask_id', table: 'subtasks' },
    own: {},
  },
  artifacts: {
    ids: {
      id: 'uuid',
      project_id: 'project',
      task_id: 'uuid',
      produced_by_subtask_id: 'uuid',
      produced_by_attempt_id: 'uuid',
      supersedes_artifact_id: 'uuid',
      superseded_by_artifact_id: 'uuid',
    },
    parent: { column: 'task_id', table: 'tasks' },
    own: {},
  },
  project_events: {
    ids: { project_id: 'project', task_id: 'uuid', subtask_id: 'uuid' },
    idsWithin: { payload: ID_FIELDS },
    parent: project,
    own: { id: undefined, ...NEW_PLACE },
    unless: (
      customerId,
    ) => sql`select 1 from project_events e where e.customer_id = ${customerId} and e.project_id = r.project_id and e.ts = r.ts and e.topic = r.topic
      and e.task_id is not distinct from r.task_id and e.subtask_id is not distinct from r.subtask_id
      and e.payload - ${NAMED}::text[] = r.payload - ${NAMED}::text[]`,
  },
  runs: {
    ids: { id: 'run', parent_run_id: 'run', attempt_id: 'uuid', thread_id: 'thread', conversation: 'conversation' },
    idsWithin: { step: { projectId: 'project' } },
    own: { seq: undefined, start_due_at: NOTHING, budget_ids: undefined, job_n: NOTHING },
  },
  run_messages: { ids: { run_id: 'run' }, parent: run, own: {}, isParentsOwn: true },
  run_tool_calls: { ids: { run_id: 'run' }, parent: run, own: { lost_at: NOTHING } },
  run_events: {
    ids: { run_id: 'run' },
    idsWithin: { payload: ID_FIELDS },
    parent: run,
    own: { id: undefined, ...NEW_PLACE },
  },
  run_artifacts: { ids: { id: 'uuid', run_id: 'run' }, parent: run, own: { file_key: keyIn('runs') } },
  attachments: {
    ids: { id: 'uuid', owner_id: 'beside' },
    fits: (customerId) => sql`(r.owner_kind = 'project'
        and exists (select 1 from projects p where p.customer_id = ${customerId} and p.id = r.owner_id))
      or (r.owner_kind = 'chat_thread'
        and exists (select 1 from chat_threads p where p.customer_id = ${customerId} and p.id::text = r.owner_id))`,
    own: { file_key: keyIn('attachments') },
  },
};

const AS_FILES = 'brought by what manifests say, which is looked at like any file that is applied';
const NOT_WORK = 'what waits, is sent or is told does so where it was asked for';
const OF_THE_SOURCE = 'of the deployment that it was in: there it is evidence, or money';

export const NOT_BROUGHT: Readonly<Record<string, string>> = {
  agents: AS_FILES,
  agent_settings: 'models, voices and pictures of agents are set where they run',
  templates: AS_FILES,
  tools: AS_FILES,
  memory_entries: 'brought entry by entry, since each is embedded by the model of this deployment',
  memory_edges: 'links are made of what entries say',
  scheduled_jobs: AS_FILES,
  job_overrides: 'jobs of the service run by the clock of each workspace',
  heartbeats: AS_FILES,
  manifest_origins: 'files are applied to each workspace from where they are',
  project_commands: 'what was asked of a project, and answered',
  miniapp_pages: 'pages that are opened by links of the other deployment',
  waits: NOT_WORK,
  wait_votes: NOT_WORK,
  wait_delegations: NOT_WORK,
  webhook_subscriptions: AS_FILES,
  webhook_events: NOT_WORK,
  webhook_deliveries: NOT_WORK,
  webhook_delivery_attempts: NOT_WORK,
  output_destinations: AS_FILES,
  output_recipients: 'who is mailed is asked again',
  output_deliveries: NOT_WORK,
  budgets: 'a cap is set where money is spent',
  spending_notices: NOT_WORK,
  wallet_ledger: OF_THE_SOURCE,
  topups: OF_THE_SOURCE,
  workspace_members: 'who may sign in is said by this workspace',
  api_keys: 'secrets are made again',
  deploy_tokens: 'secrets are made again',
  integration_credentials: 'secrets are set again',
  integration_secrets: 'secrets are set again',
  log_events: 'the feed of the deployment that it was in',
  audit_log: OF_THE_SOURCE,
};
