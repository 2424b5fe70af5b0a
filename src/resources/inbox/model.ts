/**
 * Words and rules of the inbox. A wait is anything that stands still until somebody outside says something. What the
 * wait is about opens and closes it; the inbox answers it. Pure.
 */
import type { PauseReason } from '../projects/model.ts';

export const WAIT_KINDS = ['gate', 'plan', 'webhook_gate', 'question', 'paused', 'lost_effect'] as const;
export type WaitKind = (typeof WAIT_KINDS)[number];

/**
 * Everything that any wait can be answered with. The kind of a wait, and the reason of a pause, decide which of them it
 * takes.
 */
export const ANSWERS = [
  'approve',
  'reject',
  'apply',
  'request_changes',
  'submit',
  'resume',
  'raise_budget',
  'retry',
  'abandon',
  'done',
  'not_done',
] as const;
export type Answer = (typeof ANSWERS)[number];

const OF_KIND: Readonly<Record<Exclude<WaitKind, 'paused'>, readonly Answer[]>> = {
  gate: ['approve', 'reject'],
  plan: ['apply', 'request_changes', 'reject'],
  webhook_gate: ['approve', 'reject'],
  question: ['submit'],
  lost_effect: ['done', 'not_done'],
};

/**
 * A failed step is tried again together with the project, because resuming alone would only stop the project once more.
 */
const OF_PAUSE: Readonly<Record<Exclude<PauseReason, 'requested'>, readonly Answer[]>> = {
  subtask_failed: ['retry', 'resume', 'abandon'],
  gate_rejected: ['retry', 'resume', 'abandon'],
  gate_misconfigured: ['retry', 'resume', 'abandon'],
  budget_breached: ['raise_budget', 'resume', 'abandon'],
  repeat_crash: ['retry', 'resume', 'abandon'],
  nonidempotent_crash: ['retry', 'resume', 'abandon'],
  nothing_dispatchable: ['retry', 'resume', 'abandon'],
  gate_expired: ['resume', 'abandon'],
};

/** @returns what this wait may be answered with, the most likely answer first */
export const answersTo = (kind: WaitKind, pauseReason: PauseReason | null): readonly Answer[] =>
  kind === 'paused' ? OF_PAUSE[(pauseReason ?? 'nothing_dispatchable') as keyof typeof OF_PAUSE] : OF_KIND[kind];

/** Whoever asks for a reminder is not asked for another one before. */
export const REMINDED_FOR_MS = 10 * 60_000;

/** The path of the gateway below which action links are. */
export const LINK_PATH = '/act';
export const LINK_TTL_MS = 7 * 24 * 60 * 60_000;
