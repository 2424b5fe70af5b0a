/** Says events of a run in words. Pure. */
import { plural } from '../../ui/figures.ts';
import type { IconName } from '../../ui/icon.tsx';
import type { RunEvent } from './types.ts';

type Payload = RunEvent['payload'];

const text = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

const TITLES: Record<string, string> = {
  run_received: 'Accepted',
  run_started: 'Started',
  model_resolved: 'Model chosen',
  model_failover: 'Model replaced',
  context_loaded: 'Context loaded',
  claude_request: 'Model request',
  claude_iteration: 'Model answered',
  tool_call: 'Tool called',
  tool_result: 'Tool answered',
  run_completed: 'Succeeded',
  run_failed: 'Failed',
  run_cancelled: 'Cancelled',
  agent_run_started: 'Run started',
  user_feedback: 'Feedback',
};

/** A reply that is no answer yet is told by its title, because its text may be long. */
const replyTitle = ({ event_type: type, payload }: RunEvent): string | undefined => {
  const { output_fault: fault, finish_reason: finish, tool_calls: calls } = payload;
  if (type !== 'claude_iteration') return undefined;
  if (fault !== undefined) return 'Answer not of the schema';
  return finish === 'length' && !calls ? 'Answer cut off' : undefined;
};

export const isWait = ({ payload }: RunEvent): boolean => payload.waits_for !== undefined;
const waitTitle = (event: RunEvent): string | undefined =>
  isWait(event) ? (event.status === 'waiting' ? 'Waits' : 'Waited') : undefined;

const WAITS: Record<string, string> = { share_of_model_calls: 'its workspace’s share of model calls' };
export const waitInWords = (what: unknown): string => WAITS[text(what)] ?? text(what).replaceAll('_', ' ');

export const titleOf = (event: RunEvent): string =>
  waitTitle(event) ?? replyTitle(event) ?? TITLES[event.event_type] ?? event.event_type;

const fieldsIn = (value: unknown): [string, string][] =>
  Object.entries(value ?? {}).map(([name, each]) => [name, text(each)]);

/** @returns the tools that the model was not offered, each with the reason if one is known */
export const withheldTools = ({ tools_withheld: slugs, withheld_because: because }: Payload): [string, string][] => {
  const reasons = new Map(fieldsIn(because));
  return Array.isArray(slugs) ? slugs.map((slug) => [text(slug), reasons.get(text(slug)) ?? '']) : [];
};

/** @returns the tools whose arguments the model was told of in another form, and why */
export const adaptedTools = ({ adapted_because: because }: Payload): [string, string][] => fieldsIn(because);

const listed = (tools: [string, string][]): string =>
  tools.map(([slug, why]) => (why === '' ? slug : `${slug} (${why})`)).join(', ');

/** The rule that chooses a model in place of an agent's own. */
export const FALLBACK_RULE = 'agent_default_fallback';
export const FALLBACK_NOTE = 'Not the agent’s own model, whose provider is not configured';

const DETAILS: Record<string, (payload: Payload) => string> = {
  run_received: () => '',
  model_resolved: ({ model, rule, effort, note }) =>
    [
      `${text(model)} (${text(rule).replaceAll('_', ' ')})`,
      effort !== undefined && `Effort: ${text(effort)}`,
      rule === FALLBACK_RULE && FALLBACK_NOTE,
      text(note),
    ]
      .filter(Boolean)
      .join('. '),
  model_failover: ({ from, to, code, error }) =>
    `asks ${text(to)} instead of ${text(from)}: ${text(error) || text(code).replaceAll('_', ' ')}`,
  context_loaded: ({ agent, tools, ...rest }) => {
    const [withheld, adapted] = [withheldTools(rest), adaptedTools(rest)];
    return [
      `${text(agent)}, ${plural(Array.isArray(tools) ? tools.length : 0, 'tool')}`,
      withheld.length > 0 && `Withheld: ${listed(withheld)}`,
      adapted.length > 0 && `Told in another form: ${listed(adapted)}`,
    ]
      .filter(Boolean)
      .join('. ');
  },
  claude_request: ({ code, error, waits_for: wait }) =>
    wait === undefined ? [text(code), text(error)].filter(Boolean).join(': ') : `for ${waitInWords(wait)}`,
  claude_iteration: ({ text_preview: said, output_fault: fault }) => text(fault) || text(said),
  tool_call: ({ tool, arguments_preview: given }) => `${text(tool)} ${text(given)}`,
  tool_result: ({ tool, result_preview: result }) => `${text(tool)} → ${text(result)}`,
  agent_run_started: ({ agent }) => text(agent),
  run_failed: ({ error, message, code }) => text(error) || [text(code), text(message)].filter(Boolean).join(': '),
  run_completed: () => '',
  run_cancelled: () => '',
};

export const detailOf = ({ event_type: type, payload }: RunEvent): string =>
  DETAILS[type]?.(payload) ??
  Object.entries(payload)
    .map(([name, value]) => `${name} ${text(value)}`)
    .join(' ');

export const describe = (event: RunEvent): string => [titleOf(event), detailOf(event)].filter(Boolean).join(': ');

const ICONS: Record<string, IconName> = {
  claude_request: 'model',
  claude_iteration: 'model',
  model_resolved: 'model',
  model_failover: 'warning',
  tool_call: 'tool',
  tool_result: 'tool',
  agent_run_started: 'runs',
  context_loaded: 'memory',
  run_completed: 'check',
  run_failed: 'cross',
  run_cancelled: 'stop',
};
export const iconOf = (event: RunEvent): IconName =>
  replyTitle(event) === undefined ? (ICONS[event.event_type] ?? 'dot') : 'warning';
