/** Brings what an archive has into the workspace, and shows what came of it: what was brought, what was not, and why. */
import { useSession } from '../../api/session.ts';
import type { WorkspaceImport } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Facts } from '../../ui/facts.tsx';
import { bytes, count, plural } from '../../ui/figures.ts';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { countsOf, sumOf, wordsOf } from './archives.ts';
import { BringArchive, GoOn, Uploading } from './bring-archive.tsx';
import { importsOf, stopImport } from './upload.ts';

const isUnderWay = ({ status }: WorkspaceImport): boolean => ['uploading', 'queued', 'running'].includes(status);

/** Nobody else is offered to bring something in. */
export const mayImport = (rights: readonly string[]): boolean => rights.includes('workspace.import');

export function Imports({ id }: { id: string | undefined }) {
  const { workspace_id: own } = useSession();
  const path = importsOf(own);
  return (
    <Resource<WorkspaceImport>
      label="Imports"
      path={path}
      selected={id}
      search={{ tab: 'imports' }}
      idOf={(row) => row.id}
      isMoving={isUnderWay}
      columns={[
        { name: 'Begun', cell: (row) => <Time at={row.created_at} isAbsolute /> },
        { name: 'State', cell: (row) => <Status status={row.status} /> },
        { name: 'Of', cell: (row) => row.source ?? '–' },
        { name: 'How far', cell: howFar },
        { name: 'By', cell: (row) => row.requested_by },
        { name: 'Size', cell: (row) => bytes(row.size_bytes), isRight: true },
      ]}
      pane={(row) => ({
        title: row.source === null ? 'Import' : `Import of ${row.source}`,
        body: <View row={row} path={path} />,
      })}
      empty={{
        title: 'Nothing was brought in yet',
        text: 'What an archive has can be brought into this workspace, out of another deployment too. What is here already stays as it is.',
        aos: `npx aos workspaces import ${own} ARCHIVE.tar.gz`,
      }}
      aos={`npx aos workspaces imports ${own}`}
    >
      <BringArchive path={path} />
      <Uploading path={path} />
    </Resource>
  );
}

function howFar({ status, parts, of_parts: all, progress, result, error_code: code }: WorkspaceImport): string {
  if (status === 'uploading') return `${count(parts)} of ${plural(all, 'part')} sent`;
  if (progress) return `${PHASES[progress.phase]} ${progress.percent}%`;
  if (code) return FAILURES[code].short;
  if (!result) return '–';
  const left = result.refused_count > 0 ? `, ${count(result.refused_count)} not` : '';
  return `${count(sumOf(result.brought))} brought${left}`;
}

const PHASES: Record<NonNullable<WorkspaceImport['progress']>['phase'], string> = {
  checking: 'Looked through',
  bringing: 'Brought',
};

const FAILURES: Record<NonNullable<WorkspaceImport['error_code']>, { short: string; means: string }> = {
  archive_damaged: {
    short: 'The archive is damaged',
    means:
      'Something of it is missing or was changed. Nothing was brought: download the archive again, and bring that.',
  },
  archive_refused: { short: 'No such archive', means: 'It has something that no export makes. Nothing was brought.' },
  archive_unsupported: {
    short: 'Another form',
    means: 'It is no archive of a workspace, or one of a later release. Nothing was brought.',
  },
  import_lost: { short: 'It was lost', means: 'Bring the archive again: what is there already is not brought twice.' },
  storage_full: {
    short: 'No space left',
    means: 'The storage of the service is full. With space, bring it again: nothing is brought twice.',
  },
  timed_out: { short: 'It took too long', means: 'Bring the archive again: nothing is brought twice.' },
  internal_error: {
    short: 'It failed',
    means: 'Something failed in the service, whose log says what. Bring it again: nothing is brought twice.',
  },
};

function View({ row, path }: { row: WorkspaceImport; path: string }) {
  const { result, progress, error_code: code } = row;
  return (
    <>
      {code && (
        <p role="alert" className="text-bad">
          {FAILURES[code].short}. {FAILURES[code].means}
        </p>
      )}
      {row.status === 'uploading' && <GoOn path={path} announced={row} />}
      <Facts
        facts={[
          ['State', <Status key="state" status={row.status} />],
          code !== null && row.error_message !== null && ['What is wrong', row.error_message],
          progress && ['How far', howFar(row)],
          row.source !== null && ['Workspace', row.source],
          row.as_of !== null && ['As it was', <Time key="of" at={row.as_of} isAbsolute />],
          ['Archive', bytes(row.size_bytes)],
          ['SHA-256', row.sha256],
          ['By', row.requested_by],
          row.completed_at !== null && ['Ended', <Time key="ended" at={row.completed_at} isAbsolute />],
        ]}
      />
      {result && <Result result={result} row={row} />}
      <Acts
        acts={[
          {
            label: 'Stop',
            isHidden: !isUnderWay(row),
            asks: { title: 'Stop this import?', text: 'What was brought until now stays.' },
            done: 'Stopped',
            act: () => stopImport(path, row.id),
          },
        ]}
      />
    </>
  );
}

function Result({ result, row }: { result: NonNullable<WorkspaceImport['result']>; row: WorkspaceImport }) {
  const { brought, there, refused, refused_count: all, ended } = result;
  return (
    <>
      <Counts title={`Brought: ${count(sumOf(brought))}`} counts={brought} />
      {row.new_ids && (
        <p className="text-sm">
          Another workspace of this deployment has the ids of the archive, so runs, projects and conversations have
          others here.
        </p>
      )}
      {ended > 0 && (
        <p className="text-sm">{plural(ended, 'run or project', 'runs and projects')} under way came as ended.</p>
      )}
      {sumOf(there) > 0 && <Counts title={`There already: ${count(sumOf(there))}`} counts={there} />}
      {all > 0 && (
        <section className="space-y-1">
          <h3 className="font-semibold text-warn">Could not be brought: {count(all)}</h3>
          <ul aria-label="Could not be brought" className="card divide-y text-sm">
            {refused.map(({ what, why }, place) => (
              <li key={place} className="px-3 py-1.5 break-words">
                <span className="font-medium">{what}</span>: {why}
              </li>
            ))}
          </ul>
          {refused.length < all && <p className="text-sm text-soft">The first {count(refused.length)} are shown.</p>}
        </section>
      )}
      {row.status === 'done' && (
        <section className="space-y-1 text-sm">
          <h3 className="font-semibold">What is left to do</h3>
          <p>
            Jobs, heartbeats and destinations came switched off, so that two deployments do not do the same: switch them
            on here. Members, API keys, secrets and caps are set again.
          </p>
        </section>
      )}
      <details className="text-sm">
        <summary className="min-h-9 py-2 pointer-coarse:min-h-11">What no import brings, and why</summary>
        <Facts facts={Object.entries(row.not_brought).map(([table, why]): [string, string] => [wordsOf(table), why])} />
      </details>
    </>
  );
}

const Counts = ({ title, counts }: { title: string; counts: Record<string, number> }) => (
  <section className="space-y-1">
    <h3 className="font-semibold">{title}</h3>
    <Facts facts={countsOf(counts)} />
  </section>
);
