/** Handles keys of one letter. They do nothing while somebody types, and can be switched off. */
import { useEffect } from 'react';
import { settingsNow } from './settings.ts';

/** Maps keys to actions. `g r` stands for `g` followed by `r` within a second. */
export type KeyMap = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const CHORD_MS = 1_000;

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

export function useKeys(keys: KeyMap): void {
  useEffect(() => {
    let first: { key: string; at: number } | undefined;
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      if ((event.ctrlKey || event.metaKey) && event.key === 'k' && keys['mod+k']) {
        event.preventDefault();
        keys['mod+k'](event);
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      if (!settingsNow().hasKeys || document.querySelector('dialog[open]')) return;
      const chord = first && Date.now() - first.at < CHORD_MS ? `${first.key} ${event.key}` : undefined;
      first = undefined;
      const action = (chord !== undefined && keys[chord]) || keys[event.key];
      if (action) {
        event.preventDefault();
        action(event);
      } else if (Object.keys(keys).some((key) => key.startsWith(`${event.key} `))) {
        first = { key: event.key, at: Date.now() };
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [keys]);
}

/** Moves the focus from one link of a list to the next, for `j` and `k`. Enter then opens the link. */
export function step(list: HTMLElement | null, by: 1 | -1): void {
  const rows = [...(list?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = rows[at === -1 ? (by === 1 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
