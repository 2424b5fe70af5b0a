/** Says events of a run in words. Pure. */
import type { IconName } from '../../ui/icon.tsx';
import type { RunEvent } from './types.ts';

type Payload = RunEvent['payload'];

const text = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

const TITLES: Record<string, string> = {
  run_received: 'Accepted',
  run_started: 'Started',
  model_resolved: 'Model chosen',
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
export const titleOf = ({ event_type: type }: RunEvent): string => TITLES[type] ?? type;

const DETAILS: Record<string, (payload: Payload) => string> = {
  run_received: () => '',
  model_resolved: ({ model, rule, note }) =>
    [`${text(model)} (${text(rule).replaceAll('_', ' ')})`, text(note)].filter(Boolean).join('. '),
  context_loaded: ({ agent, tools }) => `${text(agent)}, ${Array.isArray(tools) ? tools.length : 0} tools`,
  claude_request: ({ code, error }) => [text(code), text(error)].filter(Boolean).join(': '),
  claude_iteration: ({ text_preview: said }) => text(said),
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
  tool_call: 'tool',
  tool_result: 'tool',
  agent_run_started: 'runs',
  context_loaded: 'memory',
  run_completed: 'check',
  run_failed: 'cross',
  run_cancelled: 'stop',
};
export const iconOf = ({ event_type: type }: RunEvent): IconName => ICONS[type] ?? 'dot';
