/** How fresh a page is, and what makes it so. Where the stream cannot be had, it asks every few seconds and says so. */
import { useEffect, useRef, useState } from 'react';

const POLL_MS = 5_000;

/**
 * Does this each time something may have changed, and not while nobody looks.
 * @param everyMs of the poll; `false`: not any more
 */
export function useRefresh(refresh: () => void, everyMs: number | false = POLL_MS): void {
  const latest = useRef(refresh);
  useEffect(() => void (latest.current = refresh));
  useEffect(() => {
    if (everyMs === false) return undefined;
    const look = () => {
      if (!document.hidden) latest.current();
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [everyMs]);
}

/** Whether the pointer is over this: then nothing in it moves. */
export function usePointerInside(): [boolean, { onPointerEnter: () => void; onPointerLeave: () => void }] {
  const [isInside, setInside] = useState(false);
  return [isInside, { onPointerEnter: () => setInside(true), onPointerLeave: () => setInside(false) }];
}
