/**
 * Keeps one clock for all times on a page. It stands still while the page is hidden. Whether times are shown in UTC is
 * a person's setting.
 */
import { useSyncExternalStore } from 'react';

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick() {
  if (document.hidden) return;
  now = Date.now();
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(tick, 1_000);
    document.addEventListener('visibilitychange', tick);
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    document.removeEventListener('visibilitychange', tick);
  };
}

/**
 * @param stepMs is what the time is rounded to, so that a component which shows minutes is not drawn again each second
 */
export const useNow = (stepMs = 1_000): number => useSyncExternalStore(watch, () => Math.floor(now / stepMs) * stepMs);
