/**
 * Shows what a model writes while it writes. The text is provisional: the run's own answer takes its place when there
 * is one.
 */
import { useEffect, useState } from 'react';

interface Written {
  turn: number;
  attempt: number;
  text: string;
}

interface Told extends Written {
  /** The position at which the text continues what came before in the same turn and attempt. */
  offset: number;
}

/**
 * Opens a stream of its own for as long as the run goes on, because the service sends texts only of runs that somebody
 * watches.
 */
export function useText(runId: string, isOn: boolean): string {
  const [written, setWritten] = useState<Written>();
  useEffect(() => {
    if (!isOn) return undefined;
    const source = new EventSource(`/api/v1/cp/v1/live?text=true&kind=run&run_id=${encodeURIComponent(runId)}`);
    source.addEventListener('text', ({ data }: MessageEvent<string>) => {
      const { turn, attempt, offset, text } = JSON.parse(data) as Told;
      setWritten((before) => {
        const known = before?.turn === turn && before.attempt === attempt ? before.text : '';
        // A piece that was missed is left out, because the answer will have it.
        return { turn, attempt, text: offset > known.length ? known : known.slice(0, offset) + text };
      });
    });
    return () => source.close();
  }, [runId, isOn]);
  return isOn ? (written?.text ?? '') : '';
}
