/** Shows the navigation: a bar at the left that folds, or on a phone a bar at the bottom. */
import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { Session } from '../../api/types.ts';
import { useLiveState } from '../../live/live.ts';
import { IconButton } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Icon } from '../../ui/icon.tsx';
import { changeSettings, useSettings } from '../../ui/settings.ts';
import { PLACES } from './places.ts';
import { Account } from './account.tsx';

interface BarProps {
  session: Session;
  onSearch: () => void;
  onKeys: () => void;
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function SideBar({ session, onSearch, onKeys }: BarProps) {
  const { isNavigationFolded } = useSettings();
  // Below 900 px there is room for icons alone, whatever the person chose.
  const word = isNavigationFolded ? 'sr-only' : 'max-[899px]:sr-only';
  return (
    <header
      className={cx(
        'hidden shrink-0 flex-col gap-1 border-r bg-surface p-2 sm:flex',
        isNavigationFolded ? 'w-13' : 'w-13 min-[900px]:w-52',
      )}
    >
      <div className="flex h-8 items-center gap-2 px-2 pb-1 font-semibold">
        <Mark />
        <span className={cx('truncate', word)}>{session.workspace_id.replace(/^acc_/, '')}</span>
      </div>
      <button
        type="button"
        onClick={onSearch}
        title="Search and commands"
        className="flex h-8 items-center gap-2 rounded-md border px-2 text-soft hover:bg-raised hover:text-ink pointer-coarse:h-11"
      >
        <Icon name="search" />
        <span className={cx('flex-1 text-left', word)}>Search</span>
        <kbd aria-hidden="true" className={cx('font-sans text-xs', word)}>
          {isMac ? '⌘K' : 'Ctrl K'}
        </kbd>
      </button>
      <nav aria-label="Main" className="flex flex-1 flex-col gap-0.5 pt-1">
        {PLACES.map(({ label, to, icon, badge: Badge }) => (
          <Link
            key={to}
            to={to}
            title={label}
            className="flex h-8 items-center gap-2 rounded-md px-2 text-soft hover:bg-raised hover:text-ink pointer-coarse:h-11"
            activeProps={{ className: 'bg-raised font-medium text-ink!' }}
          >
            <Icon name={icon} />
            <span className={cx('flex-1', word)}>{label}</span>
            {Badge && <Badge />}
          </Link>
        ))}
      </nav>
      <Freshness word={word} />
      {session.models.is_offline && <OfflineModels word={word} />}
      <Account session={session} onKeys={onKeys} word={word} />
      <IconButton
        icon={isNavigationFolded ? 'right' : 'left'}
        label={isNavigationFolded ? 'Unfold navigation' : 'Fold navigation'}
        className="max-[899px]:hidden"
        onClick={() => changeSettings({ isNavigationFolded: !isNavigationFolded })}
      />
    </header>
  );
}

export function BottomBar({ session, onSearch, onKeys }: BarProps) {
  const id = useId();
  const item = 'flex min-h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs text-soft';
  const shown = PLACES.slice(0, 3);
  return (
    <nav aria-label="Main" className="fixed inset-x-0 bottom-0 z-10 flex border-t bg-surface sm:hidden">
      {shown.map(({ label, to, icon, badge: Badge }) => (
        <Link key={to} to={to} className={item} activeProps={{ className: 'text-accent! font-medium' }}>
          <span className="flex items-center gap-1">
            <Icon name={icon} />
            {Badge && <Badge />}
          </span>
          {label}
        </Link>
      ))}
      <button type="button" className={item} onClick={onSearch}>
        <Icon name="search" />
        Search
      </button>
      <button type="button" className={item} popoverTarget={id}>
        <Icon name="more" />
        More
      </button>
      <div popover="auto" id={id} className="card m-auto w-[min(20rem,calc(100vw-2rem))] p-2 text-ink shadow-lg">
        {PLACES.slice(3).map(({ label, to, icon }) => (
          <Link
            key={to}
            to={to}
            className="flex min-h-11 items-center gap-3 rounded-md px-3 hover:bg-raised"
            onClick={() => document.getElementById(id)?.hidePopover()}
          >
            <Icon name={icon} />
            {label}
          </Link>
        ))}
        <Account session={session} onKeys={onKeys} word="" />
      </div>
    </nav>
  );
}

const Mark = () => (
  <svg viewBox="0 0 16 16" aria-hidden="true" className="size-4 shrink-0 text-accent" fill="none" stroke="currentColor">
    <path d="M3.5 12 8 4l4.5 8" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" />
    <g fill="currentColor" stroke="none">
      <circle cx="8" cy="3.6" r="2" />
      <circle cx="3.5" cy="12.2" r="2" />
      <circle cx="12.5" cy="12.2" r="2" />
    </g>
  </svg>
);

/** Says that models are offline, so that nobody takes their answers for those of a real model. */
function OfflineModels({ word }: { word: string }) {
  return (
    <Link
      to="/workspace"
      search={{ tab: 'integrations' }}
      title="No model key is set: runs use the built-in offline model, whose answers are deterministic. Set a key to use a real one."
      className="flex items-center gap-2 rounded-md px-2 py-1 text-xs text-warn hover:bg-raised pointer-coarse:min-h-11"
    >
      <Icon name="model" />
      <span className={word}>Offline model: set a key to use a real one</span>
    </Link>
  );
}

/** Says nothing where the page is up to date. */
function Freshness({ word }: { word: string }) {
  if (useLiveState() === 'live') return null;
  return (
    <div
      title="The stream of events is not there: pages ask every 5 s"
      className="flex items-center gap-2 px-2 py-1 text-xs text-soft"
    >
      <Icon name="clock" />
      <span className={word}>Not live: asks every 5 s</span>
    </div>
  );
}
