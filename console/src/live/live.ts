/**
 * Tells how fresh a page is, and keeps it fresh. Where the stream cannot be had, the page asks every few seconds and
 * says so.
 */
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { liveState, watchEvents, watchState, type Kind, type LiveState } from './stream.ts';

const POLL_MS = 5_000;
/** The pause between two refreshes, however much happens. */
const PAUSE_MS = 300;
/** What happens within this time of an event is refreshed with it: an event seldom comes alone. */
const TOGETHER_MS = 20;

export const useLiveState = (): LiveState => useSyncExternalStore(watchState, liveState);

interface Wanted {
  kinds: readonly Kind[];
  runId?: string;
  projectId?: string;
  /** False for something that cannot change any more. */
  isOn?: boolean;
}

/**
 * Calls `refresh` each time one of the wanted things may have changed. While the page is hidden it waits, and then
 * refreshes at once when the page is shown.
 */
export function useRefresh(refresh: () => void, { kinds, runId, projectId, isOn = true }: Wanted): void {
  const latest = useRef(refresh);
  useEffect(() => void (latest.current = refresh));
  const state = useLiveState();
  const wanted = kinds.join(' ');
  useEffect(() => {
    if (!isOn) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isMissed = false;
    let lookedAt = Date.now();
    const look = () => {
      timer = undefined;
      lookedAt = Date.now();
      if (document.hidden) isMissed = true;
      else latest.current();
    };
    const soon = () => void (timer ??= setTimeout(look, Math.max(TOGETHER_MS, lookedAt + PAUSE_MS - Date.now())));
    const unwatch = watchEvents((event) => {
      if (event === 'gap') return soon();
      if (!wanted.split(' ').includes(event.kind)) return;
      if (runId !== undefined && event.run_id !== runId) return;
      if (projectId !== undefined && event.project_id !== projectId) return;
      soon();
    });
    const onVisible = () => {
      if (document.hidden || !isMissed) return;
      isMissed = false;
      soon();
    };
    document.addEventListener('visibilitychange', onVisible);
    // Something may have changed before the page listened, or while the stream was away.
    soon();
    const poll = state === 'live' ? undefined : setInterval(look, POLL_MS);
    return () => {
      unwatch();
      clearTimeout(timer);
      clearInterval(poll);
      document.removeEventListener('visibilitychange', onVisible);
    };
  }, [isOn, wanted, runId, projectId, state]);
}

/** Tells whether the pointer is over an element, in which nothing moves then. */
export function usePointerInside(): [boolean, { onPointerEnter: () => void; onPointerLeave: () => void }] {
  const [isInside, setInside] = useState(false);
  return [isInside, { onPointerEnter: () => setInside(true), onPointerLeave: () => setInside(false) }];
}
