/** Says what has just happened, for eyes and for screen readers. The notice goes after a while. */
import { useEffect, useSyncExternalStore } from 'react';
import { IconButton } from './button.tsx';

interface Notice {
  text: string;
  isBad: boolean;
}

let current: Notice | undefined;
const watchers = new Set<() => void>();

function set(notice: Notice | undefined) {
  current = notice;
  for (const watcher of watchers) watcher();
}
export const notify = (text: string): void => set({ text, isBad: false });
export const notifyProblem = (error: unknown): void =>
  set({ text: error instanceof Error ? error.message : String(error), isBad: true });

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

const SHOWN_MS = 6_000;

export function Notices() {
  const notice = useSyncExternalStore(watch, () => current);
  useEffect(() => {
    if (!notice || notice.isBad) return undefined;
    const timer = setTimeout(() => set(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-16 z-20 flex justify-center px-4 sm:bottom-6"
    >
      {notice && (
        <div className="card pointer-events-auto flex max-w-lg items-center gap-2 py-1 pr-1 pl-3 shadow-lg">
          <span className={notice.isBad ? 'text-bad' : undefined}>{notice.text}</span>
          <IconButton icon="cross" label="Dismiss" onClick={() => set(undefined)} />
        </div>
      )}
    </div>
  );
}
