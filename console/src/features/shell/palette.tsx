/** Opens one box for everything: places, actions, and whatever the service finds by an id, a name or a text. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useId, useState, type KeyboardEvent } from 'react';
import { cx } from '../../ui/cx.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { shortId } from '../../ui/figures.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Status } from '../../ui/status.tsx';
import { newestRuns } from '../runs/queries.ts';
import { PLACES } from './places.ts';

interface Hit {
  id: string;
  label: string;
  icon: IconName;
  group: string;
  status?: string;
  to: string;
}

const ACTIONS: readonly Hit[] = [
  { id: 'new-run', label: 'New run', icon: 'plus', group: 'Actions', to: '/runs/new' },
  { id: 'tour', label: 'The first five minutes', icon: 'model', group: 'Actions', to: '/welcome' },
  { id: 'new-project', label: 'New project', icon: 'plus', group: 'Actions', to: '/projects/new' },
];

const SHOWN = 8;

function useHits(text: string): { hits: Hit[]; isSearching: boolean } {
  const runs = useQuery({
    queryKey: ['palette', 'runs', text],
    queryFn: ({ signal }) => newestRuns({ q: text }, signal),
    enabled: text.length >= 2,
    staleTime: 5_000,
  });
  const places = PLACES.map(({ label, to, icon }): Hit => ({ id: to, label, icon, group: 'Go to', to }));
  const wanted = text.toLowerCase();
  const fixed = [...ACTIONS, ...places].filter(({ label }) => label.toLowerCase().includes(wanted));
  const found = (runs.data?.data ?? []).slice(0, SHOWN).map((run): Hit => ({
    id: run.run_id,
    label: `${run.agent ?? 'unassigned'} ${shortId(run.run_id)}  ${run.prompt}`,
    icon: 'runs',
    group: 'Runs',
    status: run.status,
    to: `/runs/${run.run_id}`,
  }));
  return { hits: [...fixed, ...(text.length >= 2 ? found : [])], isSearching: runs.isFetching };
}

export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { hits, isSearching } = useHits(useDebounced(text.trim()));
  const chosen = Math.min(at, hits.length - 1);
  const optionId = (i: number) => `${list}-${i}`;
  useEffect(() => document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen, list]);

  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    onClose();
    void navigate({ to: hit.to });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by !== undefined) {
      event.preventDefault();
      setAt((chosen + by + hits.length) % Math.max(1, hits.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      go(hits[chosen]);
    }
  };

  return (
    <Dialog title="Search and commands" isOpen isBare onClose={onClose} className="mt-[12vh]">
      <div className="flex items-center gap-2 border-b px-3">
        <Icon name={isSearching ? 'spinner' : 'search'} className="text-soft" />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={hits.length > 0 ? optionId(chosen) : undefined}
          aria-label="Search and commands"
          placeholder="A run id, a text, or where to go"
          autoComplete="off"
          spellCheck={false}
          className="h-12 w-full bg-transparent text-lg outline-none"
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div role="listbox" id={list} aria-label="Results" className="max-h-[50vh] overflow-y-auto p-1.5">
        {hits.map((hit, i) => (
          <div
            key={hit.id}
            id={optionId(i)}
            role="option"
            aria-selected={i === chosen}
            onPointerMove={() => setAt(i)}
            onClick={() => go(hit)}
            className={cx(
              'flex min-h-9 items-center gap-2 rounded-md px-2 pointer-coarse:min-h-11',
              i === chosen && 'bg-raised',
            )}
          >
            {hit.status ? <Status status={hit.status} isIconOnly /> : <Icon name={hit.icon} className="text-soft" />}
            <span className="min-w-0 flex-1 truncate">{hit.label}</span>
            <span className="text-xs text-soft">{hit.group}</span>
          </div>
        ))}
        {hits.length === 0 && (
          <p className="px-3 py-6 text-center text-soft">{isSearching ? 'Searching' : 'Nothing found'}</p>
        )}
      </div>
    </Dialog>
  );
}

const PAUSE_MS = 150;

/** @returns the text once its writer pauses */
function useDebounced(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return useDeferredValue(settled);
}
