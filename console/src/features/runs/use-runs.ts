/**
 * Loads a list of runs and keeps it fresh without moving rows under anybody's pointer. Known rows change where they
 * stand. New ones wait until they are asked for, or come by themselves while the pointer is elsewhere and the list is
 * at its top.
 */
import { useInfiniteQuery, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useRefresh } from '../../live/live.ts';
import type { RunFilters } from './filters.ts';
import { newestRuns, PAGE, runsQuery, type RunPage } from './queries.ts';
import { isInFlight, type FoundRun } from './types.ts';

type Pages = InfiniteData<RunPage>;

/** Rows that are known already, as they are now; and those before the first known one, which are new. */
/** @param older of those further down, what was looked up */
function merged(
  pages: Pages,
  newest: readonly FoundRun[],
  older: readonly FoundRun[],
): { pages: Pages; fresh: FoundRun[] } {
  const now = new Map([...newest, ...older].map((run) => [run.run_id, run]));
  const top = pages.pages[0]?.data[0]?.run_id;
  const at = top === undefined ? newest.length : newest.findIndex(({ run_id: id }) => id === top);
  const known = new Set(pages.pages.flatMap(({ data }) => data.map(({ run_id: id }) => id)));
  const fresh = (at === -1 ? newest : newest.slice(0, at)).filter(({ run_id: id }) => !known.has(id));
  // A row within the newest page that was not returned again no longer matches the filters.
  const all = pages.pages.flatMap(({ data }) => data.map(({ run_id: id }) => id));
  const end = newest.length < PAGE ? all.length : all.indexOf(newest.at(-1)!.run_id);
  const gone = new Set(all.slice(0, end).filter((id) => !now.has(id)));
  const updated = pages.pages.map((page) => ({
    ...page,
    data: page.data.filter(({ run_id: id }) => !gone.has(id)).map((run) => now.get(run.run_id) ?? run),
  }));
  return { pages: { ...pages, pages: updated }, fresh };
}

const withFresh = (pages: Pages, fresh: readonly FoundRun[]): Pages => ({
  ...pages,
  pages: pages.pages.map((page, i) => (i === 0 ? { ...page, data: [...fresh, ...page.data] } : page)),
});

/**
 * So many active runs below the newest page are looked up one by one. There are few, because older runs have mostly
 * ended.
 */
const LOOKED_UP = 20;

async function olderInFlight(pages: Pages | undefined, newest: readonly FoundRun[]): Promise<FoundRun[]> {
  const known = new Set(newest.map(({ run_id: id }) => id));
  const open = (pages?.pages.flatMap(({ data }) => data) ?? []).filter(
    ({ run_id: id, status }) => isInFlight(status) && !known.has(id),
  );
  const found = await Promise.all(
    open.slice(0, LOOKED_UP).map(({ run_id: id }) => newestRuns({ q: id }).catch(() => undefined)),
  );
  return found.flatMap((page) => page?.data ?? []);
}

export function useRuns(filters: RunFilters, { isHeld }: { isHeld: () => boolean }) {
  const client = useQueryClient();
  const options = runsQuery(filters);
  const query = useInfiniteQuery(options);
  const [waiting, setWaiting] = useState<{ of: RunFilters; fresh: FoundRun[] }>();
  const fresh = waiting?.of === filters ? waiting.fresh : [];

  const look = useCallback(async () => {
    const newest = await newestRuns(filters).catch(() => undefined);
    if (!newest) return;
    const older = await olderInFlight(client.getQueryData<Pages>(options.queryKey), newest.data);
    let held: FoundRun[] = [];
    client.setQueryData(options.queryKey, (pages: Pages | undefined) => {
      if (!pages) return pages;
      const next = merged(pages, newest.data, older);
      // Where more runs are new than fit into a page, nobody knows what is between them and the known ones, so the list
      // begins anew.
      if (next.fresh.length === newest.data.length && pages.pages[0]!.data.length > 0 && !isHeld()) {
        return { pages: [newest], pageParams: [undefined] };
      }
      if (isHeld()) {
        held = next.fresh;
        return next.pages;
      }
      return withFresh(next.pages, next.fresh);
    });
    setWaiting({ of: filters, fresh: held });
    void client.invalidateQueries({ queryKey: ['runs', 'counts'] });
  }, [client, filters, isHeld, options.queryKey]);
  useRefresh(() => void look(), { kinds: ['run'] });

  const show = useCallback(() => {
    client.setQueryData(options.queryKey, (pages: Pages | undefined) => pages && withFresh(pages, fresh));
    setWaiting(undefined);
  }, [client, fresh, options.queryKey]);

  const rows = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data]);
  return { query, rows, waiting: fresh.length, show, look };
}
