/**
 * References without a foreign key, and columns that look like references and are none. `test/security/references.test.ts`
 * fails for a column that is in neither list.
 */

/** A column whose values are ids of rows of another table. */
export interface Undeclared {
  from: string;
  column: string;
  /** A table whose key is `id`; `json` for a document in which `JSON_NAMES` are looked for. */
  to: string;
  /** Stands before the id. */
  prefix?: string;
  /** The id ends at the first slash. */
  isCall?: boolean;
  /** Only rows in which another column has this value refer to the table. */
  when?: readonly [column: string, value: string];
}

/** Names that the service gives to ids in documents, and the tables of these ids. */
export const JSON_NAMES: Readonly<Record<string, string>> = {
  project_id: 'projects',
  projectId: 'projects',
  run_id: 'runs',
  parent_run_id: 'runs',
  child_run_id: 'runs',
  artifact_id: 'artifacts',
  task_id: 'tasks',
  subtask_id: 'subtasks',
  attempt_id: 'attempts',
  wait_id: 'waits',
  destination_id: 'output_destinations',
};

type More = Pick<Undeclared, 'prefix' | 'isCall' | 'when'>;
const refers = (from: string, column: string, to: string, more: More = {}): Undeclared => ({
  from,
  column,
  to,
  ...more,
});
const budgetOf = (prefix: string, to: string) => refers('budgets', 'id', to, { prefix: `${prefix}:` });
const found = (kind: string, to: string) => refers('search_documents', 'subject', to, { when: ['kind', kind] });
const ownedBy = (kind: string, to: string) => refers('attachments', 'owner_id', to, { when: ['owner_kind', kind] });

export const UNDECLARED: readonly Undeclared[] = [
  refers('artifacts', 'produced_by_subtask_id', 'subtasks'),
  refers('artifacts', 'produced_by_attempt_id', 'attempts'),
  refers('artifacts', 'supersedes_artifact_id', 'artifacts'),
  refers('artifacts', 'superseded_by_artifact_id', 'artifacts'),
  ownedBy('project', 'projects'),
  ownedBy('chat_thread', 'chat_threads'),
  refers('attempts', 'task_id', 'tasks'),
  refers('attempts', 'child_run_id', 'runs'),
  budgetOf('run', 'runs'),
  budgetOf('project', 'projects'),
  budgetOf('task', 'tasks'),
  refers('log_events', 'run_id', 'runs'),
  refers('log_events', 'project_id', 'projects'),
  refers('miniapp_pages', 'waits', 'runs', { isCall: true }),
  refers('output_deliveries', 'project_id', 'projects'),
  refers('output_deliveries', 'artifact_id', 'artifacts'),
  refers('output_deliveries', 'wait_id', 'waits'),
  refers('project_events', 'task_id', 'tasks'),
  refers('project_events', 'subtask_id', 'subtasks'),
  refers('run_texts', 'project_id', 'projects'),
  refers('runs', 'parent_run_id', 'runs'),
  refers('runs', 'attempt_id', 'attempts'),
  refers('runs', 'budget_ids', 'budgets'),
  found('run', 'runs'),
  found('project', 'projects'),
  found('artifact', 'artifacts'),
  refers('spending_notices', 'cap_id', 'budgets'),
  refers('spending_notices', 'run_id', 'runs'),
  refers('spending_notices', 'told_to', 'output_destinations'),
  refers('waits', 'subject', 'subtasks'),
  refers('waits', 'subject', 'projects'),
  refers('waits', 'subject', 'miniapp_pages'),
  refers('waits', 'subject', 'runs', { isCall: true }),

  // Documents that the service writes itself.
  refers('log_events', 'payload', 'json'),
  refers('project_commands', 'result', 'json'),
  refers('project_events', 'payload', 'json'),
  refers('run_events', 'payload', 'json'),
  refers('runs', 'step', 'json'),
  refers('subtasks', 'stop', 'json'),
  refers('wallet_ledger', 'meta', 'json'),
  refers('webhook_events', 'body', 'json'),
];

const WORDS = 'people, agents or models write it; what it names is looked up within the workspace';
const SLUGS = 'slugs, which each workspace has for itself';
const CALL = 'calls are named within their run';
const OUTSIDE = 'nothing in it is the id of a row';
const EVIDENCE = 'evidence of what was asked, also with ids that the caller made up';

/** Columns that may hold ids, and why they refer to nothing. */
export const NO_REFERENCES: Readonly<Record<string, string>> = {
  'agent_settings.fallback_models': OUTSIDE,
  'agents.allowed_tools': SLUGS,
  'artifacts.content': WORDS,
  'attachments.reading': OUTSIDE,
  'attempts.consumed': SLUGS,
  'attempts.output': WORDS,
  'attempts.queued_by': 'a person, or the name of a key',
  'audit_log.change': EVIDENCE,
  'audit_log.target': EVIDENCE,
  'billing_events.payload': 'the body of the provider',
  'billing_leases.token': OUTSIDE,
  'budgets.alert_at': OUTSIDE,
  'feature_flags.workspaces': 'the operator sets it for any workspace',
  'idempotency_keys.owner': 'a request that is under way',
  'idempotency_keys.token': 'a request that is under way',
  'integration_credentials.token_id': OUTSIDE,
  'job_overrides.job_id': 'jobs that ship with the service',
  'memory_entries.agents': SLUGS,
  'memory_entries.meta': WORDS,
  'miniapp_pages.call_id': CALL,
  'miniapp_pages.submitted': WORDS,
  'output_deliveries.withheld_from': 'addresses of mail',
  'output_destinations.config': WORDS,
  'output_destinations.workflow_slugs': SLUGS,
  'project_commands.args': WORDS,
  'project_commands.command_id': OUTSIDE,
  'project_events.actor_id': 'a person, or the name of a key',
  'project_events.trace_id': OUTSIDE,
  'projects.params': WORDS,
  'run_artifacts.call_id': CALL,
  'run_messages.content': WORDS,
  'run_tool_calls.arguments': WORDS,
  'run_tool_calls.call_id': CALL,
  'run_tool_calls.result': WORDS,
  'runs.channel_id': 'a name that callers choose; two workspaces may choose the same',
  'runs.output_schema': WORDS,
  'runs.override': WORDS,
  'runs.parent_call_id': CALL,
  'runs.thread_id': 'a name that callers choose; two workspaces may choose the same',
  'scheduled_jobs.output_schema': WORDS,
  'subtasks.answered_by': 'a person, or the name of a key',
  'subtasks.consumed': SLUGS,
  'subtasks.depends_on': SLUGS,
  'subtasks.feedback': WORDS,
  'subtasks.gate_config': WORDS,
  'subtasks.gate_output': WORDS,
  'subtasks.output_schema': WORDS,
  'subtasks.skills': SLUGS,
  'subtasks.tools': SLUGS,
  'tallies.dims': OUTSIDE,
  'tally_deltas.dims': OUTSIDE,
  'tasks.addenda': WORDS,
  'tasks.artifact_json_schema': WORDS,
  'tasks.depends_on': SLUGS,
  'tasks.outdated_by': 'a person, or the name of a key',
  'tasks.spared_for': SLUGS,
  'templates.spec': WORDS,
  'templates.tags': WORDS,
  'tools.schema': WORDS,
  'topups.session_id': 'of the provider',
  'waits.call_id': CALL,
  'webhook_subscriptions.events': OUTSIDE,
  'workspace_exports.summary': OUTSIDE,
  'workspaces.config': WORDS,
  'workspaces.identity_workspace_id': 'the workspace itself',
  'workspaces.provisioned': OUTSIDE,
};
