/** Opens one box for everything: places, actions, and whatever the service finds by an id, a name or a text. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useId, useState, type KeyboardEvent } from 'react';
import { get } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { SearchFindResponse, SearchResult } from '../../api/types.ts';
import { cx } from '../../ui/cx.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { shortId } from '../../ui/figures.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Status } from '../../ui/status.tsx';
import { PLACES } from './places.ts';

interface Hit {
  id: string;
  label: string;
  icon: IconName;
  group: string;
  status?: string;
  to: string;
  search?: { id: string };
}

const ACTIONS: readonly Hit[] = [
  { id: 'new-run', label: 'New run', icon: 'plus', group: 'Actions', to: '/runs/new' },
  { id: 'tour', label: 'The first five minutes', icon: 'model', group: 'Actions', to: '/welcome' },
  { id: 'new-project', label: 'New project', icon: 'plus', group: 'Actions', to: '/projects/new' },
];

const SHOWN = 8;

function useHits(text: string): { hits: Hit[]; isSearching: boolean } {
  const search = useQuery({
    queryKey: ['palette', text],
    queryFn: ({ signal }) => get<SearchFindResponse>('/v1/search', { q: text, limit: SHOWN }, signal),
    enabled: text.length >= 2,
    staleTime: 5_000,
  });
  const places = PLACES.map(({ label, to, icon }): Hit => ({ id: to, label, icon, group: 'Go to', to }));
  const actions = mayChange(useSession()) ? ACTIONS : [];
  const wanted = text.toLowerCase();
  const fixed = [...actions, ...places].filter(({ label }) => label.toLowerCase().includes(wanted));
  const found = text.length >= 2 ? (search.data?.data ?? []).map(hitOf) : [];
  return { hits: [...fixed, ...found], isSearching: search.isFetching };
}

const KIND_WORDS: Record<SearchResult['kind'], { group: string; icon: IconName }> = {
  run: { group: 'Run', icon: 'runs' },
  project: { group: 'Project', icon: 'projects' },
  artifact: { group: 'Artifact', icon: 'projects' },
  file: { group: 'File', icon: 'runs' },
  event: { group: 'Event', icon: 'runs' },
};

/** What was found leads to the page that shows it: the run, or else the project, job or conversation, that it belongs to. */
function hitOf(result: SearchResult): Hit {
  const { kind, id, title, status, agent, highlights } = result;
  const [found] = highlights.filter(({ field, parts }) => field !== 'id' && parts.some(({ hit }) => hit));
  const isBoth = found !== undefined && !['prompt', 'title', 'filename'].includes(found.field);
  const text = isBoth ? `${title} – ${found.parts.map((part) => part.text).join('')}` : title;
  return {
    id: `${kind} ${id}`,
    label: [kind === 'run' && (agent ?? 'unassigned'), kind === 'run' && shortId(id), text].filter(Boolean).join('  '),
    ...KIND_WORDS[kind],
    ...(status && { status }),
    ...placeOf(result),
  };
}

function placeOf({ kind, id, run_id: run, project_id: project, job_id: job, thread_id: thread }: SearchResult) {
  const ofProject = project !== null && (kind === 'project' || kind === 'artifact' || run === null);
  if (ofProject) return { to: `/projects/${project}` };
  if (job !== null) return { to: '/schedules' };
  if (thread !== null) return { to: '/chat', search: { id: thread } };
  return { to: `/runs/${run ?? id}` };
}

export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const list = useId();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const { hits, isSearching } = useHits(useDebounced(text.trim()));
  const chosen = Math.min(at, hits.length - 1);
  const optionId = (i: number) => `${list}-${i}`;
  useEffect(() => {
    document.getElementById(`${list}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [chosen, list]);

  const go = (hit: Hit | undefined) => {
    if (!hit) return;
    onClose();
    void navigate({ to: hit.to, search: hit.search ?? {} });
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
          placeholder="An id, a word, or where to go"
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
