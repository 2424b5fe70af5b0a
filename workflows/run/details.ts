/** What an operator reads of a run in the Temporal Web UI. No prompt, argument or result is in it. */
import { ContinueAsNew, isCancellation } from '@temporalio/workflow';
import type { RequestedToolCall, RunError, TerminalStatus, TurnOutcome } from '../../src/resources/runs/model.ts';
import { createDetails, readable } from '../shared/details.ts';
import type { AgentRunInput } from './messages.ts';

const TURN = 'turn';

export function createRunDetails({ runId, holds }: Pick<AgentRunInput, 'runId' | 'holds'>) {
  let doing = 'Begins.';
  /** A run that looks whether it is its turn waits on from before. */
  let inTurnSince: string | undefined;
  const { show, waitFor, goOn, end } = createDetails(() => doing);
  const answers = [`\`aos inbox --run ${runId}\``];
  const say = (what: string): void => {
    doing = what;
    show();
  };
  const ended = ({ status, error }: { status: TerminalStatus; error?: RunError }): void => {
    doing = `Ended: **${status}**${error ? ` (${error.code})` : ''}.`;
    end();
  };

  return {
    goOn,
    ended,

    asksModel(turn: number): void {
      goOn(TURN);
      say(`Turn ${turn}: the model is asked. Pending activities say how often, and why again.`);
    },

    callsTools(turn: number, calls: readonly RequestedToolCall[]): void {
      inTurnSince = undefined;
      say(`Turn ${turn}: ${calls.map(({ tool }) => `\`${tool}\``).join(', ') || 'the answer goes on'}`);
    },

    waitsForTurn(outcome: Extract<TurnOutcome, { kind: 'waiting' }>): void {
      const what =
        outcome.behind !== null
          ? `the run waits for run \`${outcome.behind}\`, which goes first in the conversation`
          : outcome.waitsFor
            ? `the run waits for the ${outcome.waitsFor}, which is away`
            : 'the run waits for a slot: its workspace has its share of those of the worker';
      waitFor(TURN, { what, since: (inTurnSince ??= new Date().toISOString()) });
    },

    /** @returns what the project says of it whose step waits for the run */
    waitsForPerson({ callId, tool }: Pick<RequestedToolCall, 'callId' | 'tool'>) {
      const what = `\`${tool}\` waits for a person`;
      waitFor(callId, { what, answers });
      const waitsFor = `a person (\`${holds?.step}\`: ${what}), since ${readable()}: \`aos inbox --run ${runId}\``;
      return { key: `${runId}:${callId}`, waitsFor };
    },

    asksWhatHappened: ({ callId, tool }: Pick<RequestedToolCall, 'callId' | 'tool'>): void =>
      waitFor(callId, { what: `a person is asked whether \`${tool}\` took effect`, answers }),

    waitsForRun: (callId: string, childId: string): void =>
      waitFor(callId, { what: `the run waits for run \`${childId}\`, which it started` }),

    broken(error: unknown): void {
      if (isCancellation(error)) return ended({ status: 'cancelled' });
      doing = error instanceof ContinueAsNew ? 'Continued as new.' : 'Broken: the failure of the workflow says why.';
      end();
    },
  };
}

export type RunDetails = ReturnType<typeof createRunDetails>;
