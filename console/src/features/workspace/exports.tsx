/** Shows the archives of the workspace, and makes another one: everything that it has, to be kept. */
import { del, post } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type { WorkspaceExport } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Facts } from '../../ui/facts.tsx';
import { bytes, plural } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { countsOf } from './archives.ts';

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
        { name: 'What is in it', cell: howFar },
        { name: 'By', cell: (row) => row.requested_by },
        { name: 'There until', cell: (row) => (row.expires_at ? <Time at={row.expires_at} /> : '–') },
        { name: 'Size', cell: (row) => (row.size_bytes === null ? '–' : bytes(row.size_bytes)), isRight: true },
      ]}
      pane={(row) => ({ title: row.filename ?? 'Archive', body: <View row={row} path={`${pathOf(own)}/${row.id}`} /> })}
      empty={{
        title: 'No archive yet',
        text: 'An archive has everything of the workspace in one file, but secrets. Keep it, or read it with other programs. A code is mailed to you to confirm it, and it can be downloaded for a week.',
        aos: `npx aos workspaces export ${own}`,
      }}
      aos={`npx aos workspaces exports ${own}`}
    >
      <Acts acts={[exportAct(own)]} />
      <span>One file with everything but secrets; it takes a code, which is mailed to you.</span>
    </Resource>
  );
}

function howFar({ progress, summary, error_code: code }: WorkspaceExport): string {
  if (progress) {
    const { phase, percent, rows, files } = progress;
    return `${PHASES[phase]}: ${phase === 'rows' ? `${percent}%, ` : ''}${plural(rows, 'row')}, ${plural(files, 'file')}`;
  }
  if (summary) return `${plural(summary.rows, 'row')}, ${plural(summary.files, 'file')}`;
  return code ? FAILURES[code] : '–';
}

const PHASES: Record<NonNullable<WorkspaceExport['progress']>['phase'], string> = {
  rows: 'Reading rows',
  files: 'Adding files',
  closing: 'Closing it',
};

const FAILURES: Record<NonNullable<WorkspaceExport['error_code']>, string> = {
  export_lost: 'It was lost: make another one',
  storage_full: 'The storage of the service is full',
  timed_out: 'It took too long',
  internal_error: 'Something failed in the service, whose log says what',
};

function View({ row, path }: { row: WorkspaceExport; path: string }) {
  const { summary, progress } = row;
  const isReady = row.status === 'ready';
  return (
    <>
      {isReady && (
        <p>
          <a className={buttonClass('primary')} href={`/api/v1/cp${path}/archive`} download={row.filename ?? true}>
            <Icon name="download" /> Download {row.size_bytes === null ? '' : bytes(row.size_bytes)}
          </a>
        </p>
      )}
      <Facts
        facts={[
          ['State', <Status key="state" status={row.status} />],
          progress && ['How far', howFar(row)],
          row.error_code !== null && ['Why', FAILURES[row.error_code]],
          row.expires_at && ['Can be downloaded until', <Time key="until" at={row.expires_at} isAbsolute />],
          ['By', row.requested_by],
          row.sha256 !== null && ['SHA-256', row.sha256],
        ]}
      />
      {summary && <Contents summary={summary} />}
      {isReady && <Uses />}
      <Acts
        acts={[
          {
            label: isReady ? 'Remove the archive' : 'Stop',
            isHidden: !isReady && !isUnderWay(row),
            asks: {
              title: isReady ? 'Remove this archive?' : 'Stop making this archive?',
              text: isReady
                ? 'It cannot be downloaded any more. The workspace stays as it is.'
                : 'No archive comes of it. The workspace stays as it is.',
            },
            done: isReady ? 'Removed' : 'Stopped',
            act: () => del(path),
          },
        ]}
      />
    </>
  );
}

function Contents({ summary }: { summary: NonNullable<WorkspaceExport['summary']> }) {
  const { rows, files, file_bytes: size, missing, secrets, tables } = summary;
  return (
    <section className="space-y-1">
      <h3 className="font-semibold">What is in it</h3>
      <p className="text-sm">
        {plural(rows, 'row')} and {plural(files, 'file')}
        {files > 0 && ` (${bytes(size)})`}, with the hash of each file.
        {missing > 0 && ` ${plural(missing, 'file')} could not be added, as their bytes were gone.`}
      </p>
      {secrets > 0 && (
        <p className="text-sm">
          {plural(secrets, 'secret')} stayed here: manifest.json in the archive says where each is to be set again.
        </p>
      )}
      <details className="text-sm">
        <summary className="min-h-9 py-2 pointer-coarse:min-h-11">Rows of each kind</summary>
        <Facts facts={countsOf(tables)} />
      </details>
    </section>
  );
}

const Uses = () => (
  <section className="space-y-1 text-sm">
    <h3 className="font-semibold">What to do with it</h3>
    <p>
      Keep it where it is safe: it has all that people and agents wrote. Its README.txt says what is where; nothing but
      tar and a text editor is needed.
    </p>
  </section>
);
