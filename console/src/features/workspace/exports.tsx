/** Shows the archives of the workspace, and makes another one: everything that it has, to be kept or brought elsewhere. */
import { del, post } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type { WorkspaceExport } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { bytes, count, plural } from '../../ui/figures.ts';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

const pathOf = (workspaceId: string): string => `/v1/workspaces/${workspaceId}/exports`;

const isUnderWay = ({ status }: WorkspaceExport): boolean => status === 'queued' || status === 'running';

/** Nobody else is offered to take everything out. */
export const mayExport = (rights: readonly string[]): boolean => rights.includes('workspace.export');

/** Begins to make an archive. */
export const exportAct = (workspaceId: string) => ({
  label: 'Export everything',
  icon: 'download' as const,
  done: 'The archive is being made: see Exports',
  act: () => post(pathOf(workspaceId)),
});

export function Exports({ id }: { id: string | undefined }) {
  const { workspace_id: own } = useSession();
  return (
    <Resource<WorkspaceExport>
      label="Archives"
      path={pathOf(own)}
      selected={id}
      search={{ tab: 'exports' }}
      idOf={(row) => row.id}
      isMoving={isUnderWay}
      columns={[
        { name: 'Made', cell: (row) => <Time at={row.created_at} isAbsolute /> },
        { name: 'State', cell: (row) => <Status status={row.status} /> },
        { name: 'How far', cell: howFar },
        { name: 'By', cell: (row) => row.requested_by },
        { name: 'Size', cell: (row) => (row.size_bytes === null ? '–' : bytes(row.size_bytes)), isRight: true },
      ]}
      pane={(row) => ({ title: row.filename ?? 'Archive', body: <View row={row} path={`${pathOf(own)}/${row.id}`} /> })}
      empty={{
        title: 'No archive yet',
        text: 'An archive has everything of the workspace in it, but secrets. An owner makes one with a confirmation code.',
        aos: `npx aos workspaces export ${own}`,
      }}
      aos={`npx aos workspaces exports ${own}`}
    >
      <Acts acts={[exportAct(own)]} />
    </Resource>
  );
}

function howFar({ progress, summary, error_code: code }: WorkspaceExport): string {
  if (progress) return `${progress.percent}%, ${plural(progress.rows, 'row')}, ${plural(progress.files, 'file')}`;
  if (summary) return `${plural(summary.rows, 'row')}, ${plural(summary.files, 'file')}`;
  return code ?? '–';
}

function View({ row, path }: { row: WorkspaceExport; path: string }) {
  const { summary, progress } = row;
  const isReady = row.status === 'ready';
  return (
    <>
      {isReady && (
        <p>
          <a
            className="inline-flex min-h-9 items-center text-accent underline pointer-coarse:min-h-11"
            href={`/api/v1/cp${path}/archive`}
            download={row.filename ?? true}
          >
            Download {row.size_bytes === null ? '' : bytes(row.size_bytes)}
          </a>
        </p>
      )}
      <Facts
        facts={[
          ['State', row.status],
          progress && ['How far', `${progress.phase}: ${howFar(row)}`],
          row.error_code !== null && ['Failed', row.error_code],
          row.expires_at && ['Can be downloaded until', <Time key="until" at={row.expires_at} isAbsolute />],
          row.sha256 !== null && ['SHA-256', row.sha256],
          summary && ['Secrets to be set again', count(summary.secrets)],
          summary && summary.missing > 0 && ['Files whose bytes were gone', count(summary.missing)],
          ...Object.entries(summary?.tables ?? {}).map(([table, rows]): [string, string] => [table, count(rows)]),
        ]}
      />
      <Acts
        acts={[
          {
            label: isReady ? 'Remove the archive' : 'Stop',
            isHidden: !isReady && !isUnderWay(row),
            asks: {
              title: isReady ? 'Remove this archive?' : 'Stop making this archive?',
              text: 'It cannot be downloaded any more. The workspace stays as it is.',
            },
            done: 'Removed',
            act: () => del(path),
          },
        ]}
      />
    </>
  );
}
