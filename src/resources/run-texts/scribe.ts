/**
 * Writes down what models are writing, where somebody watches. The calls of a process are looked after together: four times
 * a second, while there are any, it is asked which of them are watched, and what those have come to is written in one
 * statement. A call that ends sooner, and that nobody watched when it began, is never heard of here.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Log } from '../../platform/core/log.ts';
import { itemAt } from '../../platform/core/present.ts';
import { storableText } from '../../platform/core/storable.ts';
import type { RunInTurn } from '../runs/store/run-in-turn.ts';
import { LINGER_MS, TEXT_TICK_MS, watchesOf } from './model.ts';
import type { RunText, RunTextStore } from './store.ts';

export type Scribe = ReturnType<typeof createScribe>;

/** A call that is under way. */
interface Writing extends RunText {
  isWatched: boolean;
  /** So much of it has been written down. */
  written: number;
}

export interface Telling {
  /** Adds what the model writes next. */
  add(piece: string): void;
  /** Ends the call: what was watched of it is written to its last word. */
  end(): Promise<void>;
}

export function createScribe({
  store,
  log,
}: {
  store: Pick<RunTextStore, 'filterWatched' | 'write' | 'drop'>;
  log: Log;
}) {
  const underWay = new Set<Writing>();
  let timer: NodeJS.Timeout | undefined;
  const forAll = AsyncLocalStorage.snapshot();

  const write = async (all: readonly Writing[]): Promise<void> => {
    const changed = all.filter(({ isWatched, written, text }) => isWatched && text.length > written);
    if (changed.length === 0) return;
    const texts = changed.map(({ runId, customerId, projectId, turn, attempt, text }) => {
      return { runId, customerId, projectId, turn, attempt, text: storableText(text) };
    });
    const lengths = changed.map(({ text }) => text.length);
    await store.write(texts);
    changed.forEach((writing, i) => (writing.written = itemAt(lengths, i)));
  };

  async function tick(): Promise<void> {
    const all = [...underWay];
    const watches = all.flatMap((writing) =>
      watchesOf(writing).map((watched) => ({ customerId: writing.customerId, watched })),
    );
    const found = new Set(
      (await store.filterWatched(watches)).map(({ customerId, watched }) => `${customerId} ${watched}`),
    );
    for (const writing of all) {
      writing.isWatched = watchesOf(writing).some((watched) => found.has(`${writing.customerId} ${watched}`));
    }
    await write(all);
  }

  const next = (): void => {
    timer = underWay.size === 0 ? undefined : setTimeout(() => forAll(round), TEXT_TICK_MS);
  };
  const round = (): void =>
    // A failed write is made up for by the next one, as every write has the whole text.
    void tick()
      .catch((err: unknown) => log.debug({ err }, 'texts were not written'))
      .finally(next);

  return {
    /** @param run the run as its turn was loaded, with whether somebody watched it then */
    begin({ id: runId, customerId, step, isWatched }: RunInTurn, turn: number, attempt: number): Telling {
      const projectId = step?.projectId ?? null;
      const writing: Writing = { runId, customerId, projectId, turn, attempt, isWatched, text: '', written: 0 };
      underWay.add(writing);
      if (!timer) next();
      return {
        add: (piece) => void (writing.text += piece),
        async end() {
          underWay.delete(writing);
          await write([writing]).catch((err: unknown) => log.debug({ err }, 'the end of a text was not written'));
          if (writing.written === 0) return;
          const { runId, turn, attempt } = writing;
          const forget = () => store.drop([{ runId, turn, attempt }]).catch(() => {});
          setTimeout(() => void forAll(forget), LINGER_MS).unref();
        },
      };
    },
  };
}
