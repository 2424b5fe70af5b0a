/** Shows the files that stand beside something that agents work on, and adds others. */
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { get, post } from '../../api/client.ts';
import type { AttachmentsListResponse } from '../../api/types.ts';
import { mayChange, useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { bytes, plural } from '../../ui/figures.ts';
import { FileField } from '../../ui/file-field.tsx';
import { notify, notifyProblem } from '../../ui/notice.tsx';

const formOf = (files: readonly File[]): FormData => {
  const form = new FormData();
  for (const file of files) form.append('files', file);
  return form;
};

type Attachment = AttachmentsListResponse['data'][number];

/** Says what was uploaded, and first of all what no agent can read. */
function notifyUploaded(files: readonly Attachment[]): void {
  const unreadable = files.filter(({ reading }) => reading?.readable === false);
  if (unreadable.length === 0) return notify(`${plural(files.length, 'file')} added`);
  notifyProblem(unreadable.map(({ filename, reading }) => `${filename} ${reading?.summary}`).join('; '));
}

/** Uploads files for a project that is about to be started. @returns their ids */
export async function prepare(files: readonly File[]): Promise<string[]> {
  const { data } = await post<AttachmentsListResponse>('/v1/files/upload', formOf(files));
  notifyUploaded(data);
  return data.map(({ id }) => id);
}

/** @param path is where they are listed */
export const filesQuery = (path: string) =>
  queryOptions({
    queryKey: ['resources', 'files', path],
    queryFn: ({ signal }) => get<AttachmentsListResponse>(path, undefined, signal),
  });

interface FilesProps {
  /** What they stand beside, as its name follows "Files of". */
  of: string;
  /** Where they are listed, and where others are sent. */
  path: string;
  /** Whether they are of something that can still use others. */
  isOpen?: boolean;
  /** Who reads them. */
  hint: string;
}

export function Files({ of, path, isOpen = true, hint }: FilesProps) {
  const client = useQueryClient();
  const query = filesQuery(path);
  const { data } = useQuery(query);
  const may = mayChange(useSession()) && isOpen;
  const [files, setFiles] = useState<File[]>([]);
  const adding = useMutation({
    mutationFn: () => post<AttachmentsListResponse>(path, formOf(files)),
    onSuccess: ({ data: added }) => {
      notifyUploaded(added);
      setFiles([]);
      return client.invalidateQueries(query);
    },
  });
  const known = data?.data ?? [];
  if (!data || (known.length === 0 && !may)) return null;
  return (
    <details className="border-b">
      <summary className="min-h-9 px-4 py-2 text-sm pointer-coarse:min-h-11">
        <span className="font-medium">Files</span> <span className="text-soft">{known.length || 'none yet'}</span>
      </summary>
      <div className="space-y-3 px-4 pb-3">
        <ul aria-label={`Files of ${of}`} className="text-sm">
          {known.map((file) => (
            <li key={file.id} className="flex min-h-6 flex-wrap items-center gap-x-2 pointer-coarse:min-h-11">
              <a
                className="text-accent underline"
                href={`/api/v1/cp/v1/files/download?id=${file.id}`}
                download={file.filename}
              >
                {file.filename}
              </a>
              <span className="tabular text-soft">{bytes(file.size_bytes)}</span>
              {file.reading && (
                <span className={file.reading.readable ? 'text-soft' : 'text-warn'}>{file.reading.summary}</span>
              )}
            </li>
          ))}
        </ul>
        {may && (
          <form
            className="max-w-xl space-y-2"
            onSubmit={(event) => {
              event.preventDefault();
              adding.mutate();
            }}
          >
            <FileField
              label="Add files"
              hint={`${hint} 10 at a time, 25 MB together.`}
              files={files}
              onChange={setFiles}
            />
            <Refusal error={adding.error} />
            {files.length > 0 && (
              <Button type="submit" look="primary" isBusy={adding.isPending}>
                Add {plural(files.length, 'file')}
              </Button>
            )}
          </form>
        )}
      </div>
    </details>
  );
}
