/** Words in which people read waits and answers. */
import type { Wait, WaitDetail } from '../../api/types.ts';
import type { IconName } from '../../ui/icon.tsx';

export const KIND_WORDS: Record<Wait['kind'], { one: string; icon: IconName }> = {
  gate: { one: 'Approval', icon: 'hand' },
  plan: { one: 'Plan', icon: 'projects' },
  webhook_gate: { one: 'Other system', icon: 'webhook' },
  question: { one: 'Question', icon: 'agent' },
  paused: { one: 'Stopped', icon: 'pause' },
  lost_effect: { one: 'Unknown outcome', icon: 'warning' },
};

type Answer = WaitDetail['choices'][number]['answer'];

interface AnswerWords {
  verb: string;
  done: string;
  look: 'primary' | 'plain' | 'danger';
}

const WORDS: Partial<Record<string, AnswerWords>> & Record<Answer, AnswerWords> = {
  approve: { verb: 'Approve', done: 'approved', look: 'primary' },
  reject: { verb: 'Reject', done: 'rejected', look: 'danger' },
  apply: { verb: 'Apply the plan', done: 'applied', look: 'primary' },
  request_changes: { verb: 'Ask for another plan', done: 'asked for another plan', look: 'plain' },
  submit: { verb: 'Send the answer', done: 'answered', look: 'primary' },
  resume: { verb: 'Resume', done: 'resumed', look: 'plain' },
  raise_budget: { verb: 'Raise the budget', done: 'raised the budget', look: 'primary' },
  retry: { verb: 'Try again', done: 'had it tried again', look: 'primary' },
  done: { verb: 'It took effect', done: 'found that it took effect', look: 'primary' },
  not_done: { verb: 'It did not', done: 'found that it did not take effect', look: 'plain' },
  abandon: { verb: 'Abandon', done: 'abandoned', look: 'danger' },
};

export const answerWords = (answer: string): AnswerWords =>
  WORDS[answer] ?? { verb: answer.replaceAll('_', ' '), done: answer.replaceAll('_', ' '), look: 'plain' };

const WAYS: Record<string, string> = {
  inbox: '',
  link: 'by a link',
  api_key: 'with an API key',
  page: 'on its page',
  signal: 'by a signal',
  timeout: 'as its time was over',
  elsewhere: 'elsewhere',
};
export const wayWords = (via: string | null): string => (via === null ? '' : (WAYS[via] ?? via));

/** @returns one line that says where the wait is */
export const placeOf = ({ project_title, project_id, phase_slug, agent, run_id }: Wait): string =>
  [project_title ?? project_id, phase_slug, agent ?? (run_id && 'a run')].filter(Boolean).join(' · ');
