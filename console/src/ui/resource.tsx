/** Shows a list of some resource, the form that makes another one, and the pane of the one that is chosen. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { get, post } from '../api/client.ts';
import { mayChange, useSession } from '../api/session.ts';
import type { Kind } from '../live/stream.ts';
import { useRefresh } from '../live/live.ts';
import { Button } from './button.tsx';
import { controlPlaneCurl } from './commands.ts';
import { Command, CopyAs } from './copy.tsx';
import { cx } from './cx.ts';
import { Empty, Problem, Skeleton } from './empty.tsx';
import { step, useKeys } from './keys.ts';
import { notify } from './notice.tsx';
import { Pane } from './pane.tsx';
import { RequestForm } from './request-form.tsx';
import { Secret } from './secret.tsx';
import { Table, type Column } from './table.tsx';

interface Making<R> {
  label: string;
  schema: string;
  path?: string;
  choices?: Readonly<Record<string, readonly string[]>>;
  without?: readonly string[];
  start?: Readonly<Record<string, string>>;
  /** Shows what came of the request that made one. */
  onMade?: (made: R) => void;
  /** What was made has a secret, which is shown this once. */
  secretOf?: (made: R) => { title: string; secret: string; children: ReactNode };
  isAllowed?: boolean;
}

interface ResourceProps<T, R> {
  /** The name of the resource in the plural. */
  label: string;
  path: string;
  columns: readonly Column<T>[];
  idOf: (row: T) => string;
  /** The id of the row whose pane is open, and the search parameters of the address without a pane. */
  selected?: string | undefined;
  search?: Record<string, unknown>;
  pane?: (row: T) => { title: string; body: ReactNode };
  making?: Making<R>;
  /** Is shown for an empty list, with a request that would make the first row. */
  empty: { title: string; text: string; aos?: string; sample?: Record<string, unknown> };
  aos?: string;
  /** The list is loaded again after events of these kinds. */
  kinds?: readonly Kind[];
  /** Is shown above the list. */
  children?: ReactNode;
  keep?: (row: T) => boolean;
  /** For as long as there is such a row, the list is loaded again every second. */
  isMoving?: (row: T) => boolean;
}

const MOVING_MS = 1_000;

/** The number of columns for which there is room beside a pane. */
const BESIDE_A_PANE = 2;

export const resourceKey = (path: string): readonly string[] => ['resources', ...path.split('?')];

export function Resource<T, R = unknown>(props: ResourceProps<T, R>) {
  const {
    label,
    path,
    columns,
    idOf,
    selected,
    search = {},
    pane,
    making,
    empty,
    aos,
    kinds = [],
    children,
    keep,
    isMoving,
  } = props;
  const client = useQueryClient();
  const isViewer = !mayChange(useSession());
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<R>();
  const list = useRef<HTMLDivElement>(null);
  useKeys(useMemo(() => ({ j: () => step(list.current, 1), k: () => step(list.current, -1) }), []));
  const query = useQuery({
    queryKey: resourceKey(path),
    queryFn: ({ signal }) => get<{ data: T[] }>(path, undefined, signal),
    staleTime: 1_000,
    refetchInterval: ({ state }) => (isMoving && state.data?.data.some(isMoving) ? MOVING_MS : false),
  });
  useRefresh(() => void client.invalidateQueries({ queryKey: resourceKey(path) }), {
    kinds,
    isOn: kinds.length > 0,
  });
  const rows = query.data?.data.filter((row) => keep?.(row) ?? true) ?? [];
  const open = rows.find((row) => idOf(row) === selected);
  const shown = open && pane?.(open);
  const makingPath = making?.path ?? path;
  const body = () => {
    if (query.isPending) return <Skeleton />;
    if (query.isError) return <Problem error={query.error} onRetry={() => void query.refetch()} />;
    if (rows.length === 0) {
      return (
        <Empty
          title={empty.title}
          commands={
            <>
              {empty.aos && <Command label="aos command" text={empty.aos} />}
              <Command
                label="curl command"
                text={controlPlaneCurl(
                  empty.sample ? { method: 'POST', path: makingPath, body: empty.sample } : { path },
                )}
              />
            </>
          }
        >
          <p>{empty.text}</p>
        </Empty>
      );
    }
    return (
      <Table
        label={label}
        rows={rows}
        columns={shown ? columns.slice(0, BESIDE_A_PANE) : columns}
        idOf={idOf}
        selected={selected}
        {...(pane && { opens: (row: T) => ({ ...search, id: idOf(row) }) })}
      />
    );
  };
  return (
    <div className="flex min-h-0 flex-1">
      <div ref={list} className={cx('min-h-0 min-w-0 flex-1 overflow-y-auto', shown && 'max-lg:hidden')} data-scroll>
        <div className="flex flex-wrap items-center gap-2 px-4 py-2">
          <div
            className={cx(
              'flex min-w-0 flex-1 flex-wrap items-center gap-2 text-sm text-soft',
              Boolean(children) && 'max-sm:basis-full',
            )}
          >
            {children}
          </div>
          <CopyAs curl={controlPlaneCurl({ path })} aos={aos} />
          {making && making.isAllowed !== false && !isViewer && (
            <Button look="primary" icon="plus" onClick={() => setMaking(true)}>
              {making.label}
            </Button>
          )}
        </div>
        {body()}
      </div>
      {shown && (
        <Pane key={selected} title={shown.title} closes={search}>
          {shown.body}
        </Pane>
      )}
      {making?.secretOf && made !== undefined && (
        <Secret {...making.secretOf(made)} onClose={() => setMade(undefined)} />
      )}
      {making && isMaking && (
        <RequestForm
          title={making.label}
          action={making.label}
          schema={making.schema}
          request={{ method: 'POST', path: makingPath }}
          {...(making.choices && { choices: making.choices })}
          {...(making.without && { without: making.without })}
          {...(making.start && { start: making.start })}
          onClose={() => setMaking(false)}
          send={async (values) => {
            const made = await post<R>(makingPath, values);
            await client.invalidateQueries({ queryKey: ['resources'] });
            if (making.secretOf) setMade(made);
            else if (making.onMade) making.onMade(made);
            else notify('Done');
          }}
        />
      )}
    </div>
  );
}
