/** Turns a failed answer into words for a person and the code that programs read. */

export interface FieldFault {
  /** The path of the field, for example `body.override.cost_budget_usd`. */
  path: string;
  message: string;
}

export class ApiProblem extends Error {
  /** The HTTP status, or 0 where there was no answer. */
  readonly status: number;
  /** One of the service's problem codes, or `unreachable`. */
  readonly code: string;
  readonly faults: readonly FieldFault[];
  /** What a structured problem says beside its code. */
  readonly more: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    { status = 0, code = 'unreachable', faults = [], more = {} }: Partial<Omit<ApiProblem, keyof Error>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.faults = faults;
    this.more = more;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Sentences for codes that say nothing to a person who has not read the reference. */
const WORDS: Record<string, string> = {
  not_found: 'There is no such thing here, or it belongs to another workspace.',
  admin_required: 'Only an owner or an admin of the workspace may do this.',
  owner_required: 'Only an owner of the workspace may do this.',
  internal_only: 'Only the workspace that operates this deployment may do this.',
  workspace_archived: 'This workspace is archived: it can be looked at and not changed.',
  runtime_unreachable: 'The service cannot reach its engine at the moment. Nothing was changed; try again in a minute.',
  run_not_in_flight: 'The run has ended already, so there is nothing to cancel.',
  internal_error: 'Something failed in the service. Nothing was changed, as far as it can tell; it is in its log.',
  export_under_way: 'An archive of this workspace is being made already: wait for it, or stop it.',
  foreign_origin: 'The request came from another address than the service knows as its own: check BASE_URL.',
};

/** @param body is the parsed body, or the text where that is no JSON */
export function problemOf(status: number, body: unknown): ApiProblem {
  const record = isRecord(body) ? body : {};
  const { detail } = record;
  if (Array.isArray(detail)) {
    const faults = detail.filter(isRecord).map(({ loc, msg }) => ({
      path: Array.isArray(loc) ? loc.join('.') : String(loc ?? ''),
      message: String(msg ?? 'is not valid'),
    }));
    const said = faults.map(({ path, message }) => `${path.replace(/^(body|query|path)\./, '')}: ${message}`);
    return new ApiProblem(said.join('; ') || 'The request is not valid.', { status, code: 'invalid', faults });
  }
  const structured = isRecord(detail) ? detail : record;
  const text = typeof detail === 'string' ? detail : typeof body === 'string' ? body : '';
  const code = String(structured.code ?? record.error ?? (/^[a-z_]+(?=:|$)/.exec(text)?.[0] || `http_${status}`));
  const message = WORDS[code] ?? (String(structured.message ?? '') || text || `The service answered ${status}.`);
  return new ApiProblem(message, { status, code, more: structured });
}

/** Tells whether asking again may help. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ApiProblem && (error.status === 0 || error.status >= 500);
