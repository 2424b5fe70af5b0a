/**
 * Says in sentences what the service refuses: what happened, and what to do. Its codes are for programs, and no person
 * is shown one.
 */
import { PROBLEMS, RUN_FAILURES, type ProblemCode } from '../platform/core/problem.ts';
import { fieldsOf, isRecord } from '../platform/core/record.ts';
import { CliError, oneLine } from './output.ts';

/** Where the answer itself says more, that is said instead. */
const SENTENCES: Readonly<Record<ProblemCode, string>> = {
  bad_request: 'the service does not understand what was sent: check the arguments',
  invalid_json: 'what was sent is not JSON: check the text of the option or file',
  builtin_immutable: 'it is built in and cannot be changed: make one of your own under another name',
  unknown_event: 'there is no such type of event: check its name',
  invalid_url: 'the address cannot be used: check it',
  invalid_upload: 'the file cannot be read: check it, and send it again',
  invalid_plan: 'no workspace can be made on this plan: choose another',
  managed_model_vendor_not_offered: 'no managed models are offered here: leave the setting out',
  cannot_destroy_internal: 'the workspace that operates the service cannot be taken down: choose another',
  invalid_amount: 'the amount is outside of what can be paid at once: choose another',
  invalid_signature: 'the signature does not match: check the secret',
  auth_required: 'the session does not count: use `aos login`, or set AOS_SESSION',
  invalid_code: 'the code is wrong or too old: ask for a new one',
  invalid_operator_token: 'the operator token does not count: set OPERATOR_TOKEN to the one of the service',
  invalid_api_key: 'the API key does not count: set AOS_API_KEY; `aos keys create` makes one',
  api_key_revoked: 'the API key does not count: set AOS_API_KEY to another; this one is revoked',
  insufficient_credit: 'there is not enough credit: add some with `aos billing topup`',
  foreign_origin: 'the request comes from another site: send it from the address of the service',
  admin_required: 'only owners and admins of the workspace may do this: ask one of them',
  read_only: 'viewers change nothing in a workspace: ask an owner for another role',
  deploys_only: 'a deploy token exports, plans and applies files, and nothing else: use a session',
  owner_required: 'only owners of the workspace may do this: ask one of them',
  no_membership: 'you are no member of a workspace here: ask an owner to add you',
  internal_only: 'only the workspace that operates the service may do this: ask its operator',
  not_your_workspace: 'you may create your own workspace only: check its id',
  not_your_key: 'the key belongs to somebody else: ask them, or an owner, to revoke it',
  plan_limit_exceeded: 'the plan allows no more of these: delete some, or choose a larger plan',
  otp_required: 'this needs a code, which was mailed: repeat the command with it',
  otp_locked: 'too many wrong codes were given: try again later',
  otp_mail_limit: 'too many codes were mailed: try again later',
  not_an_approver: 'others decide here: ask them',
  four_eyes: 'somebody else has to decide: ask another approver',
  workspace_archived: 'the workspace was taken down: use another one',
  not_found: 'there is no such thing in your workspace: check its name or id',
  operator_disabled: 'no operator is set up here: set OPERATOR_TOKEN of the service',
  no_deployment_for_customer: 'there is no workspace for this customer: make one first',
  plan_not_found: 'there is no such plan: check its name',
  already_exists: 'there is one already: change it, or choose another name',
  workspace_not_failed: 'only a workspace that failed can be provisioned again: look at its state',
  workspace_in_transition: 'the workspace is being changed: try again when that is done',
  plan_has_no_price: 'the plan has no price in this currency: choose another',
  billing_change_in_progress: 'the subscription is being changed: try again in a moment',
  addon_requires_ready_deployment: 'the workspace is not ready: try again when it is',
  last_owner: 'this is the last owner of the workspace: make somebody else an owner first',
  choose_workspace: 'you are a member of several workspaces: name one with --workspace',
  run_not_in_flight: 'the run has ended: nothing is left to stop',
  slug_taken: 'the name is taken: choose another',
  in_use: 'something uses it: change that first, or use --force',
  entry_not_active: 'the entry is not active any more: use the one that took its place',
  rotation_under_way: 'a secret is being rotated: try again when that is done',
  too_many_tokens: 'there are as many tokens as can be used at once: revoke one',
  idempotency_key_reused: 'this Idempotency-Key was used for another request: use a new one',
  delivery_in_flight: 'it is being sent: look at it again in a moment',
  version_exists: 'this version exists already: give it the next number',
  name_taken: 'the name is taken: choose another',
  project_not_active: 'the project is not at work: look at its state with `aos project show`',
  project_not_paused: 'the project is not paused: look at its state with `aos project show`',
  project_ended: 'the project has ended: start another',
  phase_in_flight: 'the phase is at work: try again when it has ended',
  already_current: 'this version is the current one already: nothing is left to do',
  subtask_not_failed: 'only a step that failed can be tried again: look at it with `aos project show`',
  attempt_queued: 'the step is tried again already: watch it with `aos project watch`',
  gate_not_waiting: 'the gate does not wait any more: look at it with `aos project show`',
  already_submitted: 'it was answered already: nothing is left to do',
  nothing_to_raise: 'no limit stops it: resume it',
  reminded_lately: 'a reminder was sent a moment ago: try again later',
  changed_since: 'it has changed since it was shown: look at it again before you answer',
  plan_outdated: 'something changed since the plan was made: plan again',
  export_under_way: 'an archive of the workspace is being made already: wait for that one',
  export_not_ready: 'the archive is not ready: try again when it is',
  already_answered: 'somebody else answered first: nothing is left to do',
  method_not_allowed: 'the service cannot do this at that address: check that it is the version of this command line',
  request_timeout: 'the service waited too long for the request: try again',
  payload_too_large: 'it is too large: send less, or in parts',
  range_not_satisfiable: 'the file ends before that: read it from the start',
  validation: 'the service does not take these values: check the arguments',
  cursor_unknown: 'that page is not known any more: begin with the first one',
  too_many_streams: 'too many watch already: end another watch, or try again later',
  headers_too_large: 'the headers are too large: check what the settings add to them',
  internal_error: 'the service failed: try again, or look into its log',
  could_not_resolve_billing_customer_id: 'the payment provider does not know this customer: ask the operator',
  billing_provider_failed: 'the payment provider failed: try again later',
  destroy_failed: 'the workspace could not be taken down wholly: try again',
  mail_failed: 'the mail could not be sent: try again, or check SMTP_URL of the service',
  embedding_failed: 'the embedding provider failed: try again later',
  identity_unreachable: 'the identity provider does not answer: try again later',
  database_unreachable: 'the database of the service does not answer: try again in a moment',
  runtime_unreachable: 'the service cannot reach its runtime: try again in a moment',
  storage_unavailable: 'the file storage takes and gives no files now: try again in a few seconds',
  storage_full: 'the storage of the service is full: free some, or ask the operator',
};

/** The service answered with a problem. A person reads a sentence, a program the answer itself. */
export class ServiceProblem extends CliError {
  readonly status: number;
  /** The `detail` of the answer, as it came. */
  readonly detail: unknown;

  /** @param request is the method with the path */
  constructor(request: string, status: number, body: string) {
    const detail = detailOf(body);
    super(`${explainProblem(body) || `the service answers ${status}`} (${request})`, 1, { status, detail });
    this.status = status;
    this.detail = detail;
  }
}

/** @returns what the body of a refusal says, as a sentence; nothing where it says nothing */
export function explainProblem(body: string): string {
  const detail = detailOf(body);
  if (typeof detail === 'string') return sentenceOf(oneLine(detail));
  if (isRecord(detail)) return sentenceOfFields(detail);
  if (!Array.isArray(detail)) return '';
  const faults = detail
    .map(fieldsOf)
    .map(({ loc, msg }) => `${Array.isArray(loc) ? loc.join('.') : ''}: ${String(msg)}`);
  return faults.join('; ');
}

/** @returns the text without the code that it begins with, which a program finds there */
export function withoutCode(text: string): string {
  const [, code, rest] = /^([a-z0-9_]+): (.+)$/s.exec(text) ?? [];
  return code !== undefined && rest !== undefined && (isProblemCode(code) || RUN_CODES.includes(code)) ? rest : text;
}

const RUN_CODES: readonly string[] = RUN_FAILURES;
const isProblemCode = (text: string): text is ProblemCode => Object.hasOwn(PROBLEMS, text);
const usualOf = (code: ProblemCode): { status: number; detail?: string } => PROBLEMS[code];
/** Each code, and what its problem says where nothing more precise is known, with the sentence. */
const USUAL = new Map<string | undefined, string>(
  Object.keys(PROBLEMS)
    .filter(isProblemCode)
    .flatMap((code) => [code, usualOf(code).detail].map((text) => [text, SENTENCES[code]] as const)),
);

function sentenceOf(text: string): string {
  const usual = USUAL.get(text);
  if (usual !== undefined) return usual;
  // Another version of the service may have another code.
  if (/^[a-z0-9]+(_[a-z0-9]+)+$/.test(text)) return `the service refuses this: ${text.replaceAll('_', ' ')}`;
  return withoutCode(text).replace(/^provider (\d+) \w+: /, 'the payment provider answered $1: ');
}

/** @returns for example `the plan allows no more of these: ... (limit 3, tier free)` */
function sentenceOfFields({ code, error, message, ...more }: Record<string, unknown>): string {
  if (typeof message === 'string') {
    const { can_answer: can } = more;
    return Array.isArray(can) && can.length > 0
      ? `${oneLine(message)}: ${can.map(inWords).join(', ')}`
      : oneLine(message);
  }
  const known = [code, error, ...Object.keys(more)].find((one) => typeof one === 'string' && isProblemCode(one));
  const facts = inWords(more);
  return `${sentenceOf(String(known ?? code ?? error ?? 'bad_request'))}${facts && ` (${facts})`}`;
}

/** @returns for example `tier free, limit 3` of an object */
function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join(', ');
  if (!isRecord(value)) return oneLine(String(value));
  const parts = Object.entries(value).map(([name, one]) => `${name.replaceAll('_', ' ')} ${inWords(one)}`);
  return parts.join(', ');
}

/** @returns what is no JSON as its text */
function detailOf(body: string): unknown {
  try {
    // The browser proxy names what it refuses `error`.
    const { detail, error } = fieldsOf(JSON.parse(body));
    return detail ?? error;
  } catch {
    return oneLine(body).slice(0, 200) || undefined;
  }
}
