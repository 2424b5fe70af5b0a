/** Formats the timeline of a run, for `aos run --follow`, `aos runs events` and the demo. */
import type { RunEvent } from '../../client/src/api.ts';
import { fieldsOf } from '../platform/core/record.ts';
import { withoutTrailingZeros } from '../platform/core/text.ts';
import { listRunEvents } from '../resources/runs/contract.ts';
import { runWorkflowId } from '../resources/runs/model.ts';
import type { ServiceClient } from './client.ts';
import { ask } from './commands.ts';
import { fieldsInLine, previewInLine } from './fields.ts';
import { oneLine, paint, paintStatus, shorten } from './output.ts';

export const listEvents = async (service: ServiceClient, runId: string, limit: number): Promise<RunEvent[]> =>
  (await ask(service, listRunEvents, [runId], { limit })).data;

/** @returns for example `12:00:01.250  tool_call     calculator expression=2340*0.17  3 ms  $0.0001` */
export function formatEvent(event: RunEvent): string {
  const { ts, event_type, status, duration_ms, cost_usd } = event;
  return [
    paint('gray', ts.slice(11, 23)),
    // The names of the interface are those of its specification, whatever model it was.
    paintStatus(event_type.replace(/^claude_/, 'model_'), 16),
    shorten(describe(event), WHOLE.some((name) => name in event.payload) ? Infinity : 90),
    status === 'failed' ? paintStatus(status) : '',
    duration_ms === null ? '' : paint('gray', `${duration_ms} ms`),
    cost_usd === null || Number(cost_usd) === 0 ? '' : paint('gray', formatUsd(cost_usd)),
  ]
    .filter(Boolean)
    .join('  ');
}

/** An address that somebody is to open is never shortened, and neither is why something went wrong or differs. */
const WHOLE = ['url', 'error', 'output_fault', 'tools_withheld', 'adapted_because', 'note'];

type Payload = Record<string, unknown>;

/** The code is for programs, and is told only where nothing else is known. */
const failureIn = ({ code, error }: Payload): string =>
  error ? String(error) : String(code ?? '').replaceAll('_', ' ');

const withReason = (what: string, slug: string, why: unknown): string =>
  `${what}: ${slug}${why ? ` (${String(why)})` : ''}`;

const WAITS_IN_WORDS: Record<string, string> = {
  share_of_model_calls: "its workspace's share of model calls",
};

/** @param what it waits for; a newer service may know more */
export const waitInWords = (what: unknown): string => WAITS_IN_WORDS[String(what)] ?? String(what).replaceAll('_', ' ');

/** Says what a person wants to read of each kind of event on one line. Other events show all that they carry. */
const DESCRIPTIONS: Record<string, (payload: Payload) => string> = {
  run_received: () => '',
  model_resolved: ({ model, rule, effort, note }) =>
    [
      `${String(model)} (${String(rule)})`,
      effort && `effort ${String(effort)}`,
      rule === 'agent_default_fallback' && 'not the agent’s own model, whose provider is not configured',
      note,
    ]
      .filter(Boolean)
      .join('; '),
  model_failover: ({ from, to, code, error }) =>
    `asks ${String(to)} instead of ${String(from)}: ${failureIn({ code, error })}`,
  context_loaded: ({ agent, tools, tools_withheld, withheld_because, adapted_because }) =>
    [
      `${String(agent)}, ${Array.isArray(tools) ? tools.length : 0} tools`,
      ...(Array.isArray(tools_withheld)
        ? tools_withheld.map((slug) => withReason('withheld', String(slug), fieldsOf(withheld_because)[String(slug)]))
        : []),
      ...Object.entries(fieldsOf(adapted_because)).map(([slug, why]) => withReason('told in another form', slug, why)),
    ].join('; '),
  claude_iteration: (payload) => {
    const { turn, input_tokens, cache_read_tokens, output_tokens, text_preview, output_fault, tool_calls } = payload;
    const cached = cache_read_tokens === undefined ? '' : ` (${String(cache_read_tokens)} from the cache)`;
    const counted = `turn ${String(turn)}: ${String(input_tokens)} tokens in${cached}, ${String(output_tokens)} out`;
    if (output_fault) return `${counted}; not of the schema: ${String(output_fault)}`;
    const isCutOff = payload.finish_reason === 'length' && !tool_calls;
    return `${counted}${isCutOff ? '; cut off:' : ''} ${String(text_preview ?? '')}`;
  },
  run_failed: failureIn,
  claude_request: ({ turn, attempt, code, error, waits_for }) =>
    waits_for
      ? `turn ${String(turn)} waits for ${waitInWords(waits_for)}`
      : `turn ${String(turn)}, attempt ${String(attempt)}: ${failureIn({ code, error })}`,
  tool_call: ({ tool, arguments_preview, url }) =>
    url
      ? `${String(tool)} waits for a person: ${String(url)}`
      : `${String(tool)} ${previewInLine(String(arguments_preview ?? ''))}`,
  tool_result: ({ tool, result_preview }) => `${String(tool)} -> ${previewInLine(String(result_preview ?? ''))}`,
};

const describeAll = (payload: Payload): string =>
  Object.entries(payload)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => fieldsInLine({ [name]: value }))
    .join(' ');

const describe = ({ event_type, payload }: RunEvent): string =>
  oneLine((DESCRIPTIONS[event_type] ?? describeAll)(payload));

/** Adds decimal strings of up to 8 decimal places exactly. */
export function sumUsd(amounts: readonly (string | null)[]): string {
  const units = amounts.reduce((sum, amount) => {
    const [whole = '0', fraction = ''] = (amount ?? '0').split('.');
    return sum + BigInt(whole + fraction.padEnd(8, '0').slice(0, 8));
  }, 0n);
  const digits = units.toString().padStart(9, '0');
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

/** @returns an exact amount without needless zeros, for example `$0.00012` */
export const formatUsd = (amount: string): string => `$${withoutTrailingZeros(amount)}`;

/** Formats a cost that is a lower bound if the price of a call is not known: it is never `$0` then. */
export const formatCost = (amount: string, isPriced: boolean): string =>
  isPriced ? formatUsd(amount) : Number(amount) === 0 ? 'unpriced' : `>= ${formatUsd(amount)}`;

/** A model call without a cost is one whose price is not known. */
export const costOf = (seen: readonly RunEvent[]): string =>
  formatCost(
    sumUsd(seen.map(({ cost_usd }) => cost_usd)),
    !seen.some(({ event_type, cost_usd }) => event_type === 'claude_iteration' && cost_usd === null),
  );

/** @returns undefined where the address of the Web UI is not known */
export const workflowUrl = (
  service: Pick<ServiceClient, 'uiUrl'>,
  workflowId: string,
  namespace = 'default',
): string | undefined =>
  service.uiUrl && `${service.uiUrl}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;

export const executionUrl = (service: Pick<ServiceClient, 'uiUrl'>, runId: string): string | undefined =>
  workflowUrl(service, runWorkflowId(runId));
