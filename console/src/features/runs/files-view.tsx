/** Lists the files that a run saved. */
import { useQuery } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import { Empty, Problem, Skeleton } from '../../ui/empty.tsx';
import { bytes } from '../../ui/figures.ts';
import { Icon } from '../../ui/icon.tsx';
import { Time } from '../../ui/time.tsx';
import type { ShownRun } from './types.ts';

interface RunFile {
  id: string;
  filename: string;
  content_type: string;
  size_bytes: number;
  download_path: string;
  created_at: string;
}

export function FilesView({ run }: { run: ShownRun }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['runs', 'files', run.run_id],
    queryFn: ({ signal }) => get<{ data: RunFile[] }>('/v1/run-artifacts', { run_id: run.run_id, limit: 500 }, signal),
  });
  if (!data) return error ? <Problem error={error} onRetry={() => void refetch()} /> : <Skeleton />;
  if (data.data.length === 0) return <Empty title="No files">The run saved none.</Empty>;
  return (
    <ul className="mx-auto w-full max-w-4xl p-4">
      {data.data.map((file) => (
        <li key={file.id}>
          <a
            href={`/api/v1/cp${file.download_path}`}
            download={file.filename}
            className="flex min-h-9 items-center gap-3 border-b px-2 hover:bg-raised"
          >
            <Icon name="file" className="text-soft" />
            <span className="min-w-0 flex-1 truncate">{file.filename}</span>
            <span className="text-soft max-sm:hidden">{file.content_type}</span>
            <span className="tabular text-soft">{bytes(file.size_bytes)}</span>
            <span className="tabular text-soft max-sm:hidden">
              <Time at={file.created_at} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
