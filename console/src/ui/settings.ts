/** Keeps what a person has chosen for this browser. */
import { useSyncExternalStore } from 'react';

interface Settings {
  theme: 'system' | 'light' | 'dark';
  /** Shows times in UTC; otherwise they are shown in the browser's own time zone. */
  isUtc: boolean;
  /** Enables keys of one letter, which get in the way of people who dictate. */
  hasKeys: boolean;
  isNavigationFolded: boolean;
}

const KEY = 'console.settings';
const DEFAULTS: Settings = { theme: 'system', isUtc: false, hasKeys: true, isNavigationFolded: false };
const watchers = new Set<() => void>();

function read(): Settings {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>) };
  } catch {
    return DEFAULTS;
  }
}
let current = read();

/** The server reads this cookie and writes the theme into the page, so that it is there before any script runs. */
function applyTheme({ theme }: Settings) {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const age = theme === 'system' ? 0 : 31_536_000;
  document.cookie = `console_theme=${theme};path=/console;max-age=${age};samesite=lax`;
}

export function changeSettings(change: Partial<Settings>): void {
  current = { ...current, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // Where the browser keeps nothing, the choice lasts as long as the page.
  }
  if (change.theme) applyTheme(current);
  for (const watcher of watchers) watcher();
}

const watch = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};
export const useSettings = (): Settings => useSyncExternalStore(watch, () => current);
export const settingsNow = (): Settings => current;
