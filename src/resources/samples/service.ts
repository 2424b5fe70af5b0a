/** Recorded samples: what they start from, and what a run of one is answered. */
import { canonical } from '../../platform/core/json.ts';
import { isRecord } from '../../platform/core/record.ts';
import type { RecordedReply } from '../../platform/models/types.ts';
import type { RunInTurn } from '../runs/store/run-in-turn.ts';
import type { PromptSample, SampleLibrary } from './library.ts';
import type { SampleStore } from './store.ts';

export type SampleService = ReturnType<typeof createSampleService>;

interface StartedProject {
  workflow: string;
  version: number;
  brief: string;
  params: Record<string, unknown> | null;
}

/** What identifies a run's sample, and what its turns have brought so far. */
type SampledRun = Pick<
  RunInTurn,
  'id' | 'customerId' | 'parentRunId' | 'agent' | 'prompt' | 'attemptId' | 'step' | 'conversation'
> & {
  toolCalls: readonly Pick<RunInTurn['toolCalls'][number], 'turn' | 'result'>[];
};

const RESULT = /\{\{result((?:\.\w+)*)\}\}/g;

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Puts the answer of the latest tool call into a recorded text. */
function insertResult(text: string, calls: SampledRun['toolCalls']): string {
  return text.replace(RESULT, (_, path: string) => {
    let value: unknown = calls.at(-1)?.result;
    for (const field of path.split('.').slice(1))
      value = isRecord(value) && Object.hasOwn(value, field) ? value[field] : '';
    return asText(value);
  });
}

export interface SampleServiceDependencies {
  /** Reads the samples; called once, when they are first needed. */
  open: () => Promise<SampleLibrary>;
  store: SampleStore;
  /** The version of each built-in workflow that the samples were recorded for, by slug. */
  versions: ReadonlyMap<string, number>;
}

export const createSampleService = ({ open, store, versions }: SampleServiceDependencies) => {
  let opened: Promise<SampleLibrary> | undefined;
  const library = () => (opened ??= open());

  async function replyOfStep(run: SampledRun, attemptId: string): Promise<RecordedReply | undefined> {
    const place = await store.findPlace(run.customerId, attemptId);
    const { hasReply, readReply } = await library();
    if (!place || !hasReply(place)) return undefined;
    return { text: await readReply(place), toolCalls: [] };
  }

  async function replyOfPrompt(run: SampledRun, turn: number): Promise<RecordedReply | undefined> {
    const { prompts } = await library();
    const recorded = prompts.find(({ agent, prompt }) => agent === run.agent && prompt === run.prompt)?.turns[turn - 1];
    if (!recorded || run.conversation !== null) return undefined;
    return {
      text: insertResult(recorded.text, run.toolCalls),
      toolCalls: recorded.calls.map(({ tool, arguments: given }, index) => ({
        callId: `sample-${turn}-${index + 1}`,
        tool,
        arguments: given,
      })),
    };
  }

  return {
    /** @returns the samples that people can start */
    async list() {
      const { workflows, prompts } = await library();
      return {
        workflows: [...workflows],
        prompts: prompts
          .filter(({ is_part }: PromptSample) => !is_part)
          .map(({ slug, title, summary, agent, prompt }) => ({ slug, title, summary, agent, prompt })),
      };
    },

    /** Tells whether a project starts from a sample: the built-in workflow, its brief and its parameters, unchanged. */
    async isSample({ workflow, version, brief, params }: StartedProject): Promise<boolean> {
      const sample = (await library()).workflows.find((each) => each.workflow === workflow);
      return (
        sample?.brief === brief.trim() &&
        versions.get(workflow) === version &&
        canonical(sample.params) === canonical(params ?? {})
      );
    },

    /**
     * @param turn counts from 1
     * @returns undefined if the run belongs to no sample
     */
    async findReply(run: SampledRun, turn: number): Promise<RecordedReply | undefined> {
      // A run that a step's run spawned has the step too, and answers a prompt of its own.
      const isStep = run.step !== null && run.attemptId !== null && run.parentRunId === null;
      if (!isStep) return replyOfPrompt(run, turn);
      // Other steps ask the database nothing.
      return run.step?.isSample && run.attemptId !== null ? replyOfStep(run, run.attemptId) : undefined;
    },
  };
};
