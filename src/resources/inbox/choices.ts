/** Says in words what each answer to a wait leads to. Pure. */
import { leastRaiseOf, namesOf, refusalOf, type Stop } from '../projects/stops/model.ts';
import type { Choice, WaitRow } from './contract.ts';
import type { Answer } from './model.ts';

interface Costs {
  /** In US dollars; null where nothing is known. */
  ofRest: string | null;
  ofPhase: string | null;
}

const isRework = (config: Record<string, unknown> | null): boolean => config?.['on_reject'] === 'rework';

interface Raise {
  stops: readonly Stop[];
  /** The caller may raise caps. */
  hasCaps: boolean;
}

export function choicesOf(
  wait: WaitRow,
  config: Record<string, unknown> | null,
  costs: Costs,
  { stops, hasCaps }: Raise,
): Choice[] {
  const rejected = isRework(config)
    ? 'The work goes back to its producer with the comment; then it is asked again.'
    : 'The project pauses: the gate can be retried, or the project abandoned.';
  const words: Readonly<Record<Answer, Omit<Choice, 'answer' | 'at_least_usd' | 'refused'>>> = {
    approve: { then: 'The steps after it go on.', takes: ['comment'], cost_estimate_usd: costs.ofRest },
    reject: {
      then: wait.kind === 'plan' ? 'The edit session ends and has changed nothing.' : rejected,
      takes: ['comment'],
      cost_estimate_usd: wait.kind !== 'plan' && isRework(config) ? costs.ofPhase : '0',
    },
    apply: { then: 'The plan is carried out as it is.', takes: ['comment'], cost_estimate_usd: null },
    request_changes: {
      then: 'The planner proposes another plan, by the comment; then it is asked again.',
      takes: ['comment'],
      cost_estimate_usd: costs.ofPhase,
    },
    submit: { then: 'The run goes on with what is sent.', takes: ['data'], cost_estimate_usd: null },
    resume: {
      then: 'The project goes on from where it stands; what died is queued again.',
      takes: [],
      cost_estimate_usd: costs.ofRest,
    },
    raise_budget: {
      then:
        stops.length === 0
          ? 'No limit stops the project any more.'
          : `That much is added to ${namesOf(stops)}, and the project goes on.`,
      takes: ['raise_by_usd'],
      cost_estimate_usd: costs.ofRest,
    },
    retry: {
      then: 'The steps that failed have all their attempts again, and the project goes on.',
      takes: [],
      cost_estimate_usd: costs.ofRest,
    },
    abandon: {
      then: 'The project ends for good; what is in flight is cancelled, artifacts are kept.',
      takes: [],
      cost_estimate_usd: '0',
    },
    done: {
      then: 'The run goes on: its agent is told that the call took effect, and is not to be repeated.',
      takes: ['comment'],
      cost_estimate_usd: null,
    },
    not_done: {
      then: 'The run goes on: its agent is told that the call did not take effect, and may be made again.',
      takes: ['comment'],
      cost_estimate_usd: null,
    },
  };
  return wait.answers.map((answer) => ({
    answer,
    ...words[answer],
    ...(answer === 'raise_budget'
      ? { at_least_usd: leastRaiseOf(stops), refused: refusalOf(stops, hasCaps)?.message ?? null }
      : { at_least_usd: null, refused: null }),
  }));
}
