/**
 * Every failure that a caller may see, named once. The code is also the `ApplicationFailure.type`, so a
 * failure keeps its name from the activity that met it to the client that reads it.
 *
 * Imports nothing: workflows use it too. `detail` is what the body says when nothing more precise is known;
 * without one the code itself is said.
 */
export const PROBLEMS = {
  bad_request: { status: 400 },
  invalid_json: { status: 400, detail: 'malformed JSON body' },
  builtin_immutable: { status: 400 },
  unknown_event: { status: 400 },
  invalid_url: { status: 400 },
  invalid_upload: { status: 400 },
  invalid_plan: { status: 400, detail: 'invalid_plan' },
  managed_model_vendor_not_offered: { status: 400, detail: 'managed_model_vendor_not_offered' },
  cannot_destroy_internal: { status: 400, detail: 'cannot_destroy_internal' },
  invalid_amount: { status: 400 },
  invalid_signature: { status: 400, detail: 'invalid_signature' },
  auth_required: { status: 401, detail: 'auth_required' },
  invalid_code: { status: 401, detail: 'invalid_code' },
  invalid_operator_token: { status: 401, detail: 'invalid_operator_token' },
  invalid_api_key: { status: 401, detail: 'invalid api key' },
  api_key_revoked: { status: 401, detail: 'api key revoked' },
  insufficient_credit: { status: 402 },
  foreign_origin: { status: 403, detail: 'foreign_origin' },
  admin_required: { status: 403, detail: 'admin_required' },
  read_only: { status: 403, detail: 'read_only: a viewer looks at a workspace and changes nothing in it' },
  deploys_only: {
    status: 403,
    detail: 'deploys_only: a deploy token exports, plans and applies files, and nothing else',
  },
  owner_required: { status: 403, detail: 'owner_required' },
  no_membership: { status: 403, detail: 'no_membership' },
  internal_only: { status: 403, detail: 'internal_only' },
  not_your_workspace: { status: 403, detail: 'not_your_workspace: you may create your own workspace only' },
  not_your_key: { status: 403, detail: 'not_your_key' },
  plan_limit_exceeded: { status: 403, isStructured: true },
  otp_required: { status: 403, isStructured: true },
  otp_locked: { status: 403 },
  otp_mail_limit: { status: 403 },
  /** Others decide at this gate; it is said who. */
  not_an_approver: { status: 403, isStructured: true },
  four_eyes: { status: 403 },
  workspace_archived: { status: 403, detail: 'workspace_archived' },
  not_found: { status: 404, detail: 'not_found' },
  operator_disabled: { status: 404, detail: 'operator_disabled' },
  no_deployment_for_customer: { status: 404, detail: 'no_deployment_for_customer' },
  plan_not_found: { status: 404 },
  already_exists: { status: 409, detail: 'already_exists' },
  workspace_not_failed: { status: 409 },
  workspace_in_transition: { status: 409 },
  plan_has_no_price: { status: 409 },
  billing_change_in_progress: { status: 409 },
  addon_requires_ready_deployment: { status: 409 },
  last_owner: { status: 409, detail: 'last_owner' },
  choose_workspace: { status: 409, isStructured: true },
  run_not_in_flight: { status: 409, detail: 'run_not_in_flight' },
  slug_taken: { status: 409 },
  /** Others name it; it is said which. */
  in_use: { status: 409, isStructured: true },
  entry_not_active: { status: 409 },
  rotation_under_way: { status: 409 },
  too_many_tokens: { status: 409 },
  idempotency_key_reused: { status: 409, detail: 'idempotency_key_reused' },
  delivery_in_flight: { status: 409, detail: 'delivery_in_flight' },
  version_exists: { status: 409 },
  name_taken: { status: 409 },
  project_not_active: { status: 409 },
  project_not_paused: { status: 409 },
  project_ended: { status: 409 },
  phase_in_flight: { status: 409 },
  already_current: { status: 409 },
  subtask_not_failed: { status: 409 },
  attempt_queued: { status: 409 },
  gate_not_waiting: { status: 409 },
  already_submitted: { status: 409 },
  nothing_to_raise: { status: 409 },
  reminded_lately: { status: 409 },
  /** The thing that was decided on has changed since it was shown. */
  changed_since: { status: 409, isStructured: true },
  /** What a plan of files has seen is no longer so. */
  plan_outdated: { status: 409 },
  export_under_way: { status: 409, detail: 'export_under_way: an archive of the workspace is being made already' },
  export_not_ready: { status: 409 },
  already_answered: { status: 409, isStructured: true },
  method_not_allowed: { status: 405, detail: 'method_not_allowed' },
  request_timeout: { status: 408, detail: 'request_timeout' },
  payload_too_large: { status: 413, detail: 'payload_too_large' },
  range_not_satisfiable: { status: 416, detail: 'range_not_satisfiable: the file ends before that' },
  validation: { status: 422, isStructured: true },
  cursor_unknown: { status: 422 },
  too_many_streams: { status: 429, isStructured: true, retryAfterS: 5 },
  headers_too_large: { status: 431, detail: 'headers_too_large' },
  internal_error: { status: 500, detail: 'internal_error' },
  could_not_resolve_billing_customer_id: { status: 500, detail: 'could_not_resolve_billing_customer_id' },
  billing_provider_failed: { status: 502 },
  destroy_failed: { status: 502, isStructured: true },
  mail_failed: { status: 502 },
  embedding_failed: { status: 502, detail: 'embedding_failed' },
  identity_unreachable: { status: 502, detail: 'identity_unreachable' },
  database_unreachable: { status: 503, detail: 'database_unreachable' },
  runtime_unreachable: { status: 502, detail: 'runtime_unreachable' },
  storage_unavailable: { status: 503, detail: 'storage_unavailable', retryAfterS: 5 },
  storage_full: { status: 507, detail: 'storage_full' },
} as const satisfies Record<string, { status: number; detail?: string; isStructured?: true; retryAfterS?: number }>;

export type ProblemCode = keyof typeof PROBLEMS;
/** These codes say more than a text; the documents of the interface tell what (`http/openapi.ts`). */
export type StructuredCode = {
  [Code in ProblemCode]: (typeof PROBLEMS)[Code] extends { isStructured: true } ? Code : never;
}[ProblemCode];

/** A failure with a name from the catalogue. `detail` becomes the `detail` field of the reply. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: unknown;

  /** @param cause goes into the log; the caller never sees it */
  constructor(code: StructuredCode, detail: object, cause?: unknown);
  constructor(code: ProblemCode, detail?: string, cause?: unknown);
  constructor(code: ProblemCode, detail?: unknown, cause?: unknown) {
    const known: { status: number; detail?: string } = PROBLEMS[code];
    const said = detail ?? known.detail ?? code;
    super(typeof said === 'string' ? said : code, cause === undefined ? {} : { cause });
    this.name = 'Problem';
    this.code = code;
    this.detail = said;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }

  /** After this many seconds the same request may succeed. */
  get retryAfterS(): number | undefined {
    const known: { status: number; retryAfterS?: number } = PROBLEMS[this.code];
    return known.retryAfterS;
  }
}

/** Why a run failed: the `type` of the failure its workflow ends with, and the start of the run's `error`. */
export const RUN_FAILURES = [
  'model_rate_limited',
  'model_unavailable',
  'model_timeout',
  'model_malformed_reply',
  'model_reply_too_long',
  'model_output_truncated',
  'output_invalid',
  'model_refused',
  'model_context_overflow',
  'model_auth_failed',
  'model_refused_request',
  'model_not_configured',
  'model_unpriced',
  'budget_exceeded',
  'turn_limit_exceeded',
  'token_limit_exceeded',
  'agent_not_found',
  'tool_outcome_unknown',
  'run_not_found',
  'internal_error',
] as const;

export type RunFailure = (typeof RUN_FAILURES)[number];
