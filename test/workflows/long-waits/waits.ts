/**
 * What each workflow waits for, and where in its code. Whoever adds a workflow, or a place where one waits, says here
 * which scene shows that it does so for long, or why it never does.
 */
import type * as workflows from '../../../workflows/index.ts';
import type { SCENES } from './scenes.ts';

export type SceneName = keyof typeof SCENES;
/** Scenes, or why it never waits for long. */
type Shown = readonly SceneName[] | string;

export const WAITS: Record<keyof typeof workflows, Shown> = {
  agentRun: ['conversation', 'question', 'lostEffect', 'step', 'runStep'],
  phase: ['humanGate', 'webhookGate', 'expiry', 'timedGate', 'schedule', 'step', 'pause', 'runStep'],
  project: ['humanGate', 'webhookGate', 'expiry', 'timedGate', 'schedule', 'step', 'pause', 'runStep'],
  webhookDelivery: ['delivery', 'place'],
  outputDelivery: ['delivery'],
  provisionWorkspace: ['provisioning'],
  destroyWorkspace: ['destruction'],
  exportWorkspace: 'an activity that works all the time it takes, and says so every second',
  housekeeper: ['rounds'],
  integrationHealth: 'one activity that is tried once: a round of housekeeping is the retry',
  systemJob: "activities of two minutes and ten attempts at most; what they leave is the next tick's",
  scheduledJob: 'accepts a run, starts it and ends',
};

const ALL_GATES = ['humanGate', 'webhookGate', 'expiry', 'timedGate', 'schedule'] as const;
const IN_PASSING = 'for a workflow task or two, until what was said has arrived';
const ENDING_A_ROUND = 'what is under way is given up within two minutes, and within half a one but for three kinds';
const ENDING = 'what is under way is being cancelled, which takes as long as the cancelled calls do';

/** By file: each call with which a workflow waits for something other than an activity, and what shows it. */
export const PLACES: Record<string, Record<string, Shown>> = {
  'housekeeper/workflow.ts': {
    "condition(() => rhythm !== since, waitMs, { summary: 'next round' })": ['rounds'],
    'condition(() => underWay.size === 0 && isTidy && allHandlersFinished())': ENDING_A_ROUND,
  },
  'run/workflow.ts': {
    "condition(() => mayGo, timeoutMs, { summary: 'looks whether it is its turn' })": ['conversation'],
    "condition(() => submitted.has(pageId), timeoutMs, { summary: 'time limit of an answer' })": ['question', 'step'],
    "condition(() => submitted.has(call), timeoutMs, { summary: 'looks whether it is answered' })": ['lostEffect'],
    'executeChild(agentRun, options)': ['question'],
  },
  'phase/gate-timers.ts': {
    'condition(isOver, Math.max(1, inMs - passedMs), { summary: `${name}: ${what}` })': ['timedGate'],
  },
  'phase/step-work.ts': {
    'executeChild(agentRun, {': ['step', 'runStep'],
    'sleep(timeoutMs, { summary })': 'beside the run of a step, which ends with it or sooner',
  },
  'phase/ask-record.ts': {
    'condition(() => state.resumes > before || isGranted() || graph.hasFailed())': ['pause', 'runStep'],
  },
  'phase/gate.ts': {
    'condition(isOver)': ALL_GATES,
    'condition(isOver, waitMs, { summary: `${slug}: ${gateKind} gate` })': ALL_GATES,
  },
  'phase/workflow.ts': {
    'condition(() => state.hasNews() || state.isIdle() || graph.ready().length > 0)': ALL_GATES,
    'condition(state.isIdle)': ENDING,
    'condition(isIdle)': ENDING,
  },
  'project/handle-control.ts': {
    'condition(() => !granted.has(subtaskId) || board.inFlight.get(phaseSlug) !== iteration)': ['runStep'],
    'condition(() => board.inFlight.get(phaseSlug) !== iteration)': IN_PASSING,
  },
  'project/phases.ts': { 'child.result()': ALL_GATES },
  'project/workflow.ts': {
    'condition(() => board.inFlight.get(slug) !== iteration)': IN_PASSING,
    'condition(isSettled)': IN_PASSING,
    'condition(state.isSettled)': IN_PASSING,
    "condition(() => state.updates > 0, FOR_ITS_COMMAND, { summary: 'command that started it' })":
      'for half a minute, and ends where it was for nothing',
    'condition(() => state.hasNews || isFull(state))': ALL_GATES,
  },
  'shared/brake.ts': {
    'condition(hasNews, Math.min(FIRST_MS * 2 ** (turns - 2), LONGEST_MS), {':
      'until what is waited for has come, five minutes at a time: nothing in the record waits for this workflow',
  },
  'shared/patience.ts': {
    "sleep(later.waitMs, { summary: 'slot at its host' })": ['place'],
    'sleep(Math.max(outcome.slotWaitMs, Math.min(outcome.slotWaitMs * 2 ** waits, LONGEST_SLOT_WAIT_MS)), {':
      'until calls of its workspace end, each of which has a time limit; slots-of-workspaces.test.ts has such waits',
  },
};
