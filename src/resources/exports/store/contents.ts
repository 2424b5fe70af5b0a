/**
 * Says what of a workspace goes into an archive. Each table has one declaration, and each of its columns a place in it:
 * `test/resources/exports/contents.test.ts` fails for one that has none, so that nothing new is forgotten, and nothing new
 * that is secret goes out by being new.
 */
import { sql, type SQL } from 'drizzle-orm';

/** Whose bytes lie in the file store: `files/<table>/<row>` in the archive. */
interface FileOf {
  /** This column has the place in the file store. */
  key: string;
  /** This column names the row, and so the file. */
  row: string;
}

export interface Brought {
  /** These go out, in this order. */
  columns: string;
  /** These stay, each for a reason. */
  without: Readonly<Record<string, string>>;
  /** The rows of a workspace, as `t`; all with its `customer_id` where it is not said. */
  from?: (customerId: string) => SQL;
  file?: FileOf;
  /** Rows are written in the order of these columns, by which an index has the rows of a workspace. */
  order?: string;
}

export type Content = Brought | { left: string };

const STORAGE_KEY = 'a key in the file storage of this deployment';
const SECRET = 'a secret, or what one can be guessed by';
const TENANT = { customer_id: 'it is the same in every row, and the manifest says it' };

const of = (parent: string, on: SQL) => (table: string) => (customerId: string) => sql`
  ${sql.identifier(parent)} p join ${sql.identifier(table)} t on ${on} where p.customer_id = ${customerId}`;
const ofRun = of('runs', sql`t.run_id = p.id`);
const ofProject = of('projects', sql`t.project_id = p.id`);

/** Tables stand in the order of the archive: what is referred to comes before what refers to it, where that can be. */
export const CONTENTS: Readonly<Record<string, Content>> = {
  agents: {
    columns:
      'slug description prompt session_prompt heartbeat_prompt model allowed_tools default_workspace memory_mode on_lost_effect version created_at updated_at',
    without: TENANT,
  },
  agent_settings: {
    columns:
      'slug model default_model selection_mode reasoning resolver_enforce effort max_output_tokens fallback_models voice updated_at',
    without: { ...TENANT, avatar_file: STORAGE_KEY },
    file: { key: 'avatar_file', row: 'slug' },
  },
  templates: {
    columns: 'id slug version name description collection tags spec phase_count status created_at updated_at',
    without: TENANT,
  },
  tools: {
    columns: 'slug id description kind shape access integration effect sensitive schema version created_at updated_at',
    without: { ...TENANT, sealed_body: 'sealed; `manifests/` has it with a name in the place of each secret' },
  },
  memory_entries: {
    columns:
      'id type slug name description content agent scope source_attribution call_key status always_load last_verified_at meta category agents hit_count impression_count last_hit_at created_at updated_at',
    without: { ...TENANT, embedding: 'made of the content again, by the model of the other deployment' },
  },
  memory_edges: { columns: 'id src_id edge_type dst_slug dst_id', without: TENANT },
  chat_threads: { columns: 'id title agent_slug created_by created_at updated_at', without: TENANT },
  scheduled_jobs: {
    columns: 'n name cron agent_slug brief enabled model reasoning output_schema revision created_at updated_at',
    without: TENANT,
  },
  job_overrides: { columns: 'job_id cron enabled revision updated_at', without: TENANT },
  heartbeats: {
    columns: 'id name agent_slug prompt interval_s enabled revision created_at updated_at',
    without: TENANT,
  },
  manifest_origins: {
    columns: 'kind name source file revision content_hash applied_by applied_at created_at',
    without: TENANT,
  },

  projects: {
    columns:
      'id seq title is_titled workflow_slug workflow_version status pause_reason brief params auth_mode started_by is_sample cost_budget_usd cost_warning_threshold is_cost_warned cost_burst_per_minute_usd completions created_at started_at completed_at abandoned_at',
    without: {
      ...TENANT,
      start_due_at: 'when housekeeping of this deployment looks at it',
      checked_at: 'when housekeeping of this deployment looked at it',
    },
    order: 'seq',
  },
  tasks: {
    columns:
      'id project_id position phase_slug title task_kind status depends_on cascade_on_upstream_change artifact_schema_slug artifact_json_schema artifact_step_slug iteration next_reason addenda on_end spared spared_for outdated_by cost_budget_usd instruction cascade_mode created_at started_at completed_at',
    without: TENANT,
  },
  subtasks: {
    columns:
      'id project_id task_id position step_slug title kind role status assignee instructions tools skills depends_on output_schema effort max_attempts timeout_s gate_kind gate_config gate_output consumed answered_by feedback addendum next_reason attempts_used crashes expiries is_outcome_unknown error created_at started_at completed_at',
    without: TENANT,
  },
  attempts: {
    columns:
      'id project_id task_id subtask_id attempt_number attempt_reason queued_by status dispatch_key output output_validated error is_crashed cost_usd child_run_id consumed created_at started_at completed_at',
    without: TENANT,
  },
  artifacts: {
    columns:
      'id project_id task_id phase_slug version schema_slug content produced_by_subtask_id produced_by_attempt_id produced_via superseded supersedes_artifact_id superseded_by_artifact_id created_at',
    without: TENANT,
  },
  project_events: {
    columns:
      'id project_id ts task_id subtask_id attempt_number level category topic actor_kind actor_id payload trace_id tx seq',
    without: TENANT,
    order: 'tx seq',
  },
  project_commands: {
    columns: 'project_id command_id args result created_at',
    without: {},
    from: ofProject('project_commands'),
  },

  runs: {
    columns:
      'id seq parent_run_id parent_call_id depth agent transport prompt thread_id channel_id conversation override output_schema status output error error_code model model_provider context_window reasoning model_tier model_rule model_enforce turn_count input_tokens output_tokens cost_usd saved_usd is_priced budget_ids attempt_id job_n step event_count last_event_at last_event_type created_at started_at completed_at',
    without: {
      ...TENANT,
      start_due_at: 'when housekeeping of this deployment looks at it',
      checked_at: 'when housekeeping of this deployment looked at it',
    },
    order: 'seq',
  },
  run_messages: { columns: 'run_id turn role content', without: {}, from: ofRun('run_messages') },
  run_tool_calls: {
    columns: 'run_id call_id turn position tool arguments effect status result lost_at created_at completed_at',
    without: TENANT,
  },
  run_events: {
    columns: 'id run_id key ts event_type duration_ms cost_usd status payload tx seq',
    without: TENANT,
    order: 'tx seq',
  },
  run_artifacts: {
    columns: 'id run_id call_id agent filename content_type size_bytes sha256 created_at',
    without: { ...TENANT, file_key: STORAGE_KEY },
    file: { key: 'file_key', row: 'id' },
  },
  attachments: {
    columns: 'id owner_kind owner_id filename content_type size_bytes sha256 reading created_at',
    without: { ...TENANT, file_key: STORAGE_KEY },
    file: { key: 'file_key', row: 'id' },
  },
  miniapp_pages: {
    columns: 'run_id call_id tool html submitted submitted_at expires_at created_at',
    without: {
      ...TENANT,
      id: 'a part of the address that opens the page without a session',
      token_hash: SECRET,
      waits: 'calls that are told of a submission by this deployment',
    },
  },
  waits: {
    columns:
      'id kind subject project_id subtask_id run_id call_id revision opened_at due_at expires_at reminders reminders_by_hand reminded_at escalated_at timed_out_at settled_at answer settled_by settled_via comment',
    without: TENANT,
  },
  wait_votes: { columns: 'wait_id revision voter seat answer comment via voted_at', without: TENANT },
  wait_delegations: { columns: 'wait_id delegator stand_in until created_at', without: TENANT },

  webhook_subscriptions: {
    columns:
      'id url events description active secrets_bound failing_since paused_at pause_told_at created_at deleted_at',
    without: {
      ...TENANT,
      sealed_secret: SECRET,
      sealed_previous_secret: SECRET,
      previous_secret_until: 'of a secret that does not go out',
    },
  },
  webhook_events: { columns: 'event_key body created_at', without: TENANT },
  webhook_deliveries: {
    columns:
      'id subscription_id event_type event_key body status attempt_count redeliveries due_at created_at completed_at',
    without: TENANT,
  },
  webhook_delivery_attempts: {
    columns: 'delivery_id attempt ts status_code duration_ms error response_excerpt',
    without: {},
    from: of('webhook_deliveries', sql`t.delivery_id = p.id`)('webhook_delivery_attempts'),
  },
  output_destinations: {
    columns:
      'id name kind config workflow_slugs enabled artifacts waits spending failing_since paused_at pause_told_at created_at updated_at',
    without: { ...TENANT, sealed: SECRET },
  },
  output_recipients: {
    columns: 'id destination_id email answer answered_at asked_at created_at',
    without: {},
    from: of('output_destinations', sql`t.destination_id = p.id`)('output_recipients'),
  },
  output_deliveries: {
    columns:
      'id destination_id project_id artifact_id wait_id notice nth revision recipient status attempts redeliveries last_error withheld_from due_at created_at completed_at',
    without: TENANT,
  },

  budgets: { columns: 'id limit_usd spent_usd reserved_usd period alert_at period_start', without: TENANT },
  spending_notices: {
    columns:
      'key id topic cap_id period_start threshold spent_usd limit_usd run_id told_to attempts due_at told_at created_at',
    without: TENANT,
  },
  wallet_ledger: {
    columns: 'id key delta_usd_micros balance_after_usd_micros kind paid_idr_cents fx_usd_idr meta created_at',
    without: TENANT,
  },
  topups: {
    columns: 'currency charged_cents credit_usd_micros fx_usd_idr created_at completed_at',
    without: { ...TENANT, session_id: 'opens the payment at the provider' },
  },
  workspace_members: { columns: 'id email role invited_by last_login_at created_at', without: TENANT },
  api_keys: {
    columns: 'id name made_by created_at last_used_at revoked_at',
    without: { ...TENANT, key_hash: SECRET, key_prefix: SECRET },
  },
  deploy_tokens: {
    columns: 'id name created_by created_at expires_at last_used_at revoked_at',
    without: { ...TENANT, token_hash: SECRET },
  },
  integration_credentials: {
    columns: 'slug kind scope health checked_at created_at updated_at',
    without: {
      ...TENANT,
      sealed: SECRET,
      token_id: 'names a secret that does not go out',
      check_at: 'when housekeeping of this deployment looks at it',
    },
  },
  integration_secrets: { columns: 'slug dotted updated_at', without: { ...TENANT, sealed: SECRET } },
  log_events: {
    columns: 'tx seq ts kind topic subject run_id project_id payload',
    without: TENANT,
  },
  audit_log: {
    columns: 'id actor action target change status created_at',
    without: TENANT,
    // A workspace reads what was done in its own life.
    from: (customerId) => sql`workspaces p join audit_log t on t.customer_id = p.customer_id
      where p.customer_id = ${customerId} and t.customer_id = ${customerId} and t.id > coalesce(p.audit_from, 0)`,
  },

  workspaces: { left: 'the manifest says what the workspace is, with credentials in its config masked' },
  workspace_exports: { left: 'archives like this one' },
  former_members: { left: 'people who are to be let in nowhere' },
  member_subjects: { left: 'names of people at the identity provider of this deployment' },
  action_links: { left: 'links that decide without a session' },
  run_texts: { left: 'what a turn that is under way has written so far' },
  cost_reservations: { left: 'money that is held while a turn is under way' },
  router_keys: { left: 'a key of this deployment, at the model router' },
  billing_events: { left: 'of the provider: no workspace is shown them' },
  billing_leases: { left: 'seconds' },
  crm_customers: { left: 'notes of the operator, whom alone they are shown to' },
  crm_notes: { left: 'notes of the operator, whom alone they are shown to' },
  discarded_files: { left: 'files that nothing refers to' },
  feature_flags: { left: 'of the deployment' },
  idempotency_keys: { left: 'a day' },
  otp_challenges: { left: 'minutes' },
  otp_holder_locks: { left: 'minutes' },
  otp_locks: { left: 'minutes' },
  session_cutoffs: { left: 'sessions of this deployment' },
  ended_sessions: { left: 'sessions of this deployment' },
  login_challenges: { left: 'of an address, not of a workspace' },
  login_locks: { left: 'of an address, not of a workspace' },
  output_mail_counts: { left: 'what may be mailed in a day' },
  usage_counters: { left: 'what a plan allows in a day' },
  delivery_slots: { left: 'places at a host, for as long as a request takes' },
  text_watches: { left: 'seconds' },
  search_documents: { left: 'made of the rows that go out' },
  search_backfills: { left: 'of the deployment' },
  tallies: { left: 'counts of the rows that go out' },
  tally_deltas: { left: 'counts of the rows that go out' },
};

export const BROUGHT: readonly (Brought & { table: string })[] = Object.entries(CONTENTS).flatMap(([table, content]) =>
  'left' in content ? [] : [{ table, ...content }],
);

const rowsOf = (table: string, { from }: Brought, customerId: string): SQL =>
  from?.(customerId) ?? sql`${sql.identifier(table)} t where t.customer_id = ${customerId}`;

const orderOf = ({ order }: Brought): SQL =>
  order === undefined
    ? sql``
    : sql`order by ${sql.join(
        order.split(' ').map((name) => sql`t.${sql.identifier(name)}`),
        sql`, `,
      )}`;

/** @returns the rows of a workspace, a line of JSON each, exactly as Postgres has their values */
export function linesOf({ table, ...content }: Brought & { table: string }, customerId: string): SQL {
  const columns = content.columns.split(' ').map((name) => sql`t.${sql.identifier(name)}`);
  return sql`select row_to_json(line)::text as line from (
    select ${sql.join(columns, sql`, `)} from ${rowsOf(table, content, customerId)} ${orderOf(content)}) line`;
}

/** @returns where the bytes of the workspace's files lie */
export function filesOf({ table, file, ...content }: Brought & { table: string }, customerId: string): SQL | undefined {
  if (!file) return undefined;
  const key = sql`t.${sql.identifier(file.key)}`;
  return sql`select json_build_object('path', ${`files/${table}/`}::text || t.${sql.identifier(file.row)}, 'key', ${key})::text as line
    from ${rowsOf(table, content, customerId)} and ${key} is not null`;
}
