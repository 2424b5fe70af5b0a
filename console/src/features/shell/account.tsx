/** Shows who is signed in, offers the settings of the display, and signs out. */
import { useId } from 'react';
import { signIn } from '../../api/client.ts';
import type { Session } from '../../api/types.ts';
import { buttonClass } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Icon } from '../../ui/icon.tsx';
import { notifyProblem } from '../../ui/notice.tsx';
import { changeSettings, useSettings } from '../../ui/settings.ts';

async function signOut() {
  try {
    // The request is sent as JSON, because a form would be answered with a page.
    await fetch('/logout', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    await signIn();
  } catch (error) {
    notifyProblem(error);
  }
}

const THEMES = [
  ['system', 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const;

const item = 'flex min-h-8 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-raised pointer-coarse:min-h-11';

export function Account({ session, onKeys, word }: { session: Session; onKeys: () => void; word: string }) {
  const id = useId();
  const { theme, isUtc, hasKeys } = useSettings();
  const close = () => document.getElementById(id)?.hidePopover();
  return (
    <>
      <button type="button" popoverTarget={id} title={session.actor} className={cx(item, 'text-soft hover:text-ink')}>
        <Icon name="agent" />
        <span className={cx('min-w-0 flex-1 truncate', word)}>{session.actor}</span>
      </button>
      <div
        popover="auto"
        id={id}
        className="card fixed m-auto w-72 p-2 text-ink shadow-lg sm:m-0 sm:[inset:auto_auto_1rem_1rem]"
      >
        <p className="px-2 py-1 break-words">
          {session.actor}
          <span className="block text-soft">{session.workspace_id}</span>
        </p>
        <fieldset className="flex gap-1 px-2 py-1">
          <legend className="pb-1 text-xs text-soft">Theme</legend>
          {THEMES.map(([value, label]) => (
            <label
              key={value}
              className={cx(buttonClass('plain', 'flex-1 px-2'), theme === value && 'border-accent text-accent')}
            >
              <input
                type="radio"
                name="theme"
                className="sr-only"
                checked={theme === value}
                onChange={() => changeSettings({ theme: value })}
              />
              {label}
            </label>
          ))}
        </fieldset>
        <label className={item}>
          <input type="checkbox" checked={isUtc} onChange={() => changeSettings({ isUtc: !isUtc })} />
          Times in UTC
        </label>
        <label className={item}>
          <input type="checkbox" checked={hasKeys} onChange={() => changeSettings({ hasKeys: !hasKeys })} />
          Keys of one letter
        </label>
        <button
          type="button"
          className={item}
          onClick={() => {
            close();
            onKeys();
          }}
        >
          <Icon name="keyboard" /> Keyboard
        </button>
        <a className={item} href="/docs" target="_blank" rel="noreferrer">
          <Icon name="external" /> API reference
        </a>
        <button type="button" className={item} onClick={() => void signOut()}>
          <Icon name="out" /> Sign out
        </button>
      </div>
    </>
  );
}
