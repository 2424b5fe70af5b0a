/** What a person has chosen for this browser. */
import { useSyncExternalStore } from 'react';

interface Settings {
  theme: 'system' | 'light' | 'dark';
  /** Absolute times; else as the browser's own place has them. */
  isUtc: boolean;
  /** Keys of one letter, which get in the way of who dictates. */
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

/** The server writes the theme into the page, so that it is there before any script: it reads this cookie. */
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
    // Where nothing can be kept the choice lasts as long as the page.
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
