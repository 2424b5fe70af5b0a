/** Cancels or tries again all runs that were chosen, after it has said how many and what they cost. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { money, plural } from '../../ui/figures.ts';
import { notify } from '../../ui/notice.tsx';
import { isInFlight, type FoundRun } from './types.ts';

export type Verb = 'cancel' | 'retry';

/** So many requests are under way at once. */
const AT_ONCE = 4;

/**
 * Sends the command for each run. One that is refused does not keep back the others.
 * @returns why some were refused, once for each reason
 */
export async function forEach(ids: readonly string[], verb: Verb): Promise<{ done: number; refusals: string[] }> {
  const left = [...ids];
  const refusals = new Set<string>();
  let done = 0;
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      try {
        await post(`/v1/runs/${id}/${verb}`);
        done++;
      } catch (error) {
        refusals.add(error instanceof Error ? error.message : String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, refusals: [...refusals] };
}

/** @returns what came of it, in a sentence */
export const outcome = (all: number, verb: Verb, { done, refusals }: Awaited<ReturnType<typeof forEach>>): string => {
  const told = verb === 'cancel' ? `${plural(done, 'run')} cancelled` : `${plural(done, 'new run')} started`;
  return done === all ? told : `${told}; ${all - done} refused: ${refusals.join(' ')}`;
};

interface BulkProps {
  runs: readonly FoundRun[];
  /** All rows that are shown. */
  shown: readonly FoundRun[];
  onChoose: (ids: readonly string[]) => void;
  onEnd: () => void;
}

export function Bulk({ runs, shown, onChoose, onEnd }: BulkProps) {
  const client = useQueryClient();
  const [asks, setAsks] = useState<Verb>();
  const inFlight = runs.filter(({ status }) => isInFlight(status));
  const ended = runs.filter(({ status }) => !isInFlight(status));
  const meant = asks === 'cancel' ? inFlight : ended;
  const cost = meant.reduce((sum, { cost_usd: usd }) => sum + Number(usd), 0);
  const unpriced = meant.filter(({ is_priced: isPriced }) => !isPriced).length;
  return (
    <div
      role="toolbar"
      aria-label="Chosen runs"
      className="flex flex-wrap items-center gap-2 border-b bg-raised px-4 py-1.5"
    >
      <span className="tabular pr-2 text-sm" aria-live="polite">
        {plural(runs.length, 'run')} chosen
      </span>
      <Button onClick={() => onChoose(shown.map(({ run_id: id }) => id))}>All {shown.length} shown</Button>
      <Button look="danger" icon="stop" disabled={inFlight.length === 0} onClick={() => setAsks('cancel')}>
        Cancel {inFlight.length > 0 && inFlight.length}
      </Button>
      <Button icon="retry" disabled={ended.length === 0} onClick={() => setAsks('retry')}>
        Run {ended.length > 0 && ended.length} again
      </Button>
      <Button look="ghost" onClick={onEnd}>
        Done
      </Button>
      <Confirm
        title={
          asks === 'cancel' ? `Cancel ${plural(meant.length, 'run')}?` : `Run ${plural(meant.length, 'run')} again?`
        }
        action={asks === 'cancel' ? 'Cancel them' : 'Run them again'}
        isDangerous={asks === 'cancel'}
        isOpen={asks !== undefined}
        onClose={() => setAsks(undefined)}
        onConfirm={async () => {
          if (!asks) return;
          const result = await forEach(
            meant.map(({ run_id: id }) => id),
            asks,
          );
          await client.invalidateQueries({ queryKey: ['runs'], refetchType: 'none' });
          notify(outcome(meant.length, asks, result));
          onEnd();
        }}
      >
        {asks === 'cancel' ? (
          <p>
            What they are doing is stopped, and so are the runs that they started. They have spent {money(cost)}, which
            stays spent. They cannot be continued, only run again from their beginning.
          </p>
        ) : (
          <p>
            A new run for each, with the same prompt, agent and budget. The last time they cost {money(cost)} together
            {unpriced > 0 && `, without ${plural(unpriced, 'run')} whose price is not known`}; expect about that again.
          </p>
        )}
      </Confirm>
    </div>
  );
}
