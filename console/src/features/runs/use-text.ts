/** What a model is writing, while it does. No fact: the run's own answer takes its place when there is one. */
import { useEffect, useState } from 'react';

interface Written {
  turn: number;
  attempt: number;
  text: string;
}

interface Told extends Written {
  /** Where it goes on in what came before of the same turn and attempt. */
  offset: number;
}

/** A stream of its own, for as long as the run goes on: only what somebody watches is told at all. */
export function useText(runId: string, isOn: boolean): string {
  const [written, setWritten] = useState<Written>();
  useEffect(() => {
    if (!isOn) return undefined;
    const source = new EventSource(`/api/v1/cp/v1/live?text=true&kind=run&run_id=${encodeURIComponent(runId)}`);
    source.addEventListener('text', ({ data }: MessageEvent<string>) => {
      const { turn, attempt, offset, text } = JSON.parse(data) as Told;
      setWritten((before) => {
        const known = before?.turn === turn && before.attempt === attempt ? before.text : '';
        // What was missed of it is in the answer later.
        return { turn, attempt, text: offset > known.length ? known : known.slice(0, offset) + text };
      });
    });
    return () => source.close();
  }, [runId, isOn]);
  return isOn ? (written?.text ?? '') : '';
}
