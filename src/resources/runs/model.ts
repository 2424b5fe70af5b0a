/** Words and rules of runs. The workflow uses them too, so nothing here asks the world. */
import type { RunFailure } from '../../platform/core/problem.ts';
import type { Effort } from '../../platform/core/effort.ts';

export const RUN_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Says of each status whether a run that has it is over. A new status does not compile without. */
const IS_TERMINAL = {
  queued: false,
  running: false,
  succeeded: true,
  failed: true,
  cancelled: true,
} as const satisfies Record<RunStatus, boolean>;
type WhereTerminal<Is> = { [Status in RunStatus]: (typeof IS_TERMINAL)[Status] extends Is ? Status : never }[RunStatus];
export type TerminalStatus = WhereTerminal<true>;
export const isTerminal = (status: RunStatus): status is TerminalStatus => IS_TERMINAL[status];
const isOpen = (status: RunStatus): status is WhereTerminal<false> => !IS_TERMINAL[status];
export const TERMINAL_STATUSES = RUN_STATUSES.filter(isTerminal);
export const OPEN_STATUSES = RUN_STATUSES.filter(isOpen);

export const TRANSPORTS = ['rest', 'discord', 'cli', 'slack', 'telegram', 'whatsapp', 'cron'] as const;

export const RUN_EVENT_TYPES = [
  'run_received',
  'run_started',
  'model_resolved',
  'model_failover',
  'context_loaded',
  'claude_request',
  'claude_iteration',
  'tool_call',
  'tool_result',
  'run_completed',
  'run_failed',
  'run_cancelled',
  'agent_run_started',
  'user_feedback',
] as const;
export type RunEventType = (typeof RUN_EVENT_TYPES)[number];

/** Each status ends a run with this one event. */
export const TERMINAL_EVENT = {
  succeeded: 'run_completed',
  failed: 'run_failed',
  cancelled: 'run_cancelled',
} as const satisfies Record<TerminalStatus, RunEventType>;

/** An effect says how a tool call may be repeated when its outcome is unknown. */
export const EFFECTS = ['read', 'idempotent', 'irreversible'] as const;
export type Effect = (typeof EFFECTS)[number];

/** A model is told this of an irreversible call that may have happened. */
export const OUTCOME_UNKNOWN =
  'the outcome of this call is unknown: it may or may not have taken effect; do not repeat it, say so in your answer';

/** What a person says of a call of which nobody knew whether it took effect. */
export type LostEffectAnswer = 'done' | 'not_done';

/** The run's workflow is told of the answer under this name. */
export const lostEffectOf = (runId: string, callId: string): string => `${runId}/${callId}`;

/** @returns what the model is told of such a call */
export const resultOfLostEffect = (answer: LostEffectAnswer, by: string, comment: string | null) =>
  answer === 'done'
    ? { outcome: 'its result was lost, but a person found that it took effect: do not repeat it', by, comment }
    : { error: 'a person found that it did not take effect: it may be called again', by, comment };

export const TOOL_CALL_STATUSES = ['pending', 'succeeded', 'failed'] as const;

export const runWorkflowId = (runId: string): string => `run-${runId}`;

/** Where the file is kept that a tool call saved: the same place each time, so that a repeated call writes over itself. */
export const artifactKey = (customerId: string, runId: string, callId: string): string =>
  `runs/${customerId}/${runId}/${callId}`;

/** @returns what names one of the files of a call, from 0, among all of its run; the first has the name of the call */
export const fileOfCall = (callId: string, nth: number): string => (nth === 0 ? callId : `${callId}.${nth}`);

/** Runs with one conversation key go one after another. A thread and a channel of one name are two conversations. */
export const conversationOf = (threadId?: string | null, channelId?: string | null): string | null =>
  threadId ? `thread:${threadId}` : channelId ? `channel:${channelId}` : null;

/** A run sees so many exchanges of its conversation before its own prompt. */
export const HISTORY_LENGTH = 20;

/** The step of a project asks this of its run: the tools it is bound to, and the shape of the answer. */
export interface StepOfRun {
  projectId: string;
  tools: string[];
  /** It is absent in runs that were begun before there were skills. */
  skills?: string[];
  outputSchema?: Record<string, unknown>;
  /** It goes before the effort of the agent. */
  effort?: Effort;
  /** The project was started from a recorded sample. */
  isSample?: true;
}

/** A run started by an outside call or a schedule tells its webhooks how it ended; spawned ones and steps do not. */
export const announcesItsEnd = (run: {
  parentRunId: string | null;
  attemptId: string | null;
  status: TerminalStatus;
}): boolean => run.parentRunId === null && run.attemptId === null && run.status !== 'cancelled';

export const COST_WINDOWS = { '24h': 24, '7d': 168, '30d': 720 } as const;
export type CostWindow = keyof typeof COST_WINDOWS;

/** The system message of a run as it is recorded: in parts where the agent had skills or memories to start with. */
export type SystemContent = string | { prompt: string; skills: string; memory: string };
export const systemText = (content: SystemContent): string =>
  typeof content === 'string'
    ? content
    : [content.prompt, content.skills, content.memory].filter((part) => part !== '').join('\n\n');

export const CONTEXT_CATEGORIES = ['system_prompt', 'tools', 'skills', 'memory', 'messages', 'tool_results'] as const;
export type ContextCategory = (typeof CONTEXT_CATEGORIES)[number];

/** Runs may spawn runs to this depth, at which an agent that spawns itself ends. */
export const MAX_SPAWN_DEPTH = 5;

/** Limits from the settings, carried in the workflow's input so that a replay decides the same. */
export interface RunLimits {
  maxTurns: number;
  maxTokens: number;
}

/** How a tool is carried out. `human`: an activity asks, then the workflow waits for what a person sends. */
export type Dispatch = 'activity' | 'child_run' | 'human';

/** One tool call that the model asked for, as the workflow sees it: no arguments, no content. */
export interface RequestedToolCall {
  callId: string;
  tool: string;
  effect: Effect;
  dispatch: Dispatch;
}

/** The outcome of one turn. */
export type TurnOutcome =
  | { kind: 'ended'; status: TerminalStatus; error?: RunError }
  | { kind: 'tools'; calls: RequestedToolCall[] }
  /** Another model is asked, because the provider of this one is out. */
  | { kind: 'again'; earlier: EarlierAttempts }
  /** Another run of the same conversation goes first. */
  | { kind: 'waiting'; behind: string }
  /**
   * The workspace has its share of the worker's slots, or the file storage is away. The run is woken for a slot, and looks
   * for itself after `lookMs`.
   */
  | { kind: 'waiting'; behind: null; lookMs: number; earlier: EarlierAttempts; waitsFor?: 'file storage' };

/** What a run in flight may wait for without anybody's doing. */
export const WAITS = ['share_of_model_calls'] as const;
export type RunWaitReason = (typeof WAITS)[number];

/** Attempts at a turn that earlier activities made. */
export interface EarlierAttempts {
  made: number;
  /** Since then (milliseconds since the epoch) the run waits for a slot. */
  waitsSince?: number;
  /** So many of them asked other models, each of which has all of its attempts. */
  elsewhere?: number;
  /** The call that the last of them heartbeat for. */
  underWay?: CallUnderWay;
}

/** With each heartbeat an attempt leaves this to the next one, for as long as its call lasts. */
export interface CallUnderWay {
  turn: number;
  attempt: number;
}

/** Why a run failed: the name, and a sentence that says what to do. */
export interface RunError {
  code: RunFailure;
  message: string;
}

export const errorText = ({ code, message }: RunError): string => `${code}: ${message}`;
