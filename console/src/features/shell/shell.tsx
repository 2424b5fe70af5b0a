/** Frames every page: the navigation, the account, and the keys. */
import { Outlet, useNavigate, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import { useSession } from '../../api/session.ts';
import { startLive } from '../../live/stream.ts';
import { Problem } from '../../ui/empty.tsx';
import { Notices } from '../../ui/notice.tsx';
import { environmentName } from '../../ui/page.tsx';
import { CodePrompt } from './code-prompt.tsx';
import { KeyHelp } from './key-help.tsx';
import { useKeys, type KeyMap } from '../../ui/keys.ts';
import { BottomBar, SideBar } from './navigation.tsx';
// It is loaded with the frame: letters that follow its key at once would be lost to a script that is on its way.
import { Palette } from './palette.tsx';
import { PLACES } from './places.ts';

const focusSearch = (): boolean => {
  const box = document.querySelector<HTMLInputElement>('[data-search]');
  box?.focus();
  box?.select();
  return box !== null;
};

export function Shell() {
  const session = useSession();
  const navigate = useNavigate();
  useEffect(() => void startLive(session.workspace_id), [session.workspace_id]);
  const [open, setOpen] = useState<'palette' | 'keys'>();
  const keys = useMemo<KeyMap>(
    () => ({
      'mod+k': () => setOpen('palette'),
      '/': () => focusSearch() || setOpen('palette'),
      '?': () => setOpen('keys'),
      ...Object.fromEntries(PLACES.map(({ key, to }) => [`g ${key}`, () => void navigate({ to })])),
    }),
    [navigate],
  );
  useKeys(keys);

  return (
    <div className="flex h-full flex-col">
      <a
        href="#main"
        className="sr-only rounded bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:absolute focus:z-30 focus:m-2"
      >
        Skip to the content
      </a>
      {environmentName && (
        <aside aria-label="Environment" className="bg-warn px-3 text-center text-xs font-semibold text-ground">
          {environmentName}
        </aside>
      )}
      <div className="flex min-h-0 flex-1">
        <SideBar session={session} onSearch={() => setOpen('palette')} onKeys={() => setOpen('keys')} />
        <div className="flex min-h-0 min-w-0 flex-1 flex-col overflow-y-auto pb-14 sm:pb-0" data-scroll>
          {session.is_archived && (
            <p className="border-b bg-raised px-4 py-1.5 text-soft">
              This workspace is archived: what there was can be looked at, and nothing can be changed.
            </p>
          )}
          <Outlet />
        </div>
      </div>
      <BottomBar session={session} onSearch={() => setOpen('palette')} onKeys={() => setOpen('keys')} />
      {open === 'palette' && <Palette onClose={() => setOpen(undefined)} />}
      <KeyHelp isOpen={open === 'keys'} onClose={() => setOpen(undefined)} />
      <CodePrompt />
      <Notices />
    </div>
  );
}

/**
 * Shows a page that cannot be drawn. After an update of the service, the scripts of the release before are gone, so the
 * page is loaded anew.
 */
export function ShellProblem({ error, reset }: ErrorComponentProps) {
  const isOutdated = !(error instanceof ApiProblem) && error instanceof Error && /import|fetch/i.test(error.message);
  return (
    <main id="main">
      <Problem
        error={isOutdated ? new Error('The console was updated while it was open. Load it again.') : error}
        onRetry={() => (isOutdated ? location.reload() : reset())}
      />
    </main>
  );
}
