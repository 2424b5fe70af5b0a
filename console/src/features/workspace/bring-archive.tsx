/** Takes the file of an archive from whoever brings it, and shows how far its upload is. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useSession } from '../../api/session.ts';
import type { WorkspaceImport } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { bytes } from '../../ui/figures.ts';
import { ForWriters } from '../../ui/for-writers.tsx';
import { notify } from '../../ui/notice.tsx';
import { forgetUpload, sendArchive, useUpload, type Upload } from './upload.ts';

interface Bringing {
  path: string;
  announced?: WorkspaceImport | undefined;
}

/** @returns what sends a file, and shows the import once it is there */
function useBring({ path, announced }: Bringing): (file: File) => void {
  const client = useQueryClient();
  const navigate = useNavigate();
  return (file) => {
    const before = location.pathname + location.search;
    void sendArchive({ path, file, announced })
      .then((started) => {
        if (!started) return;
        notify('The archive is there, and is being brought in');
        // Whoever has gone on to something else is left there.
        if (location.pathname + location.search !== before) return;
        void navigate({ to: '.', search: { tab: 'imports', id: started.id } as never });
      })
      .finally(() => void client.invalidateQueries({ queryKey: ['resources'] }));
  };
}

export function BringArchive({ path }: Bringing) {
  const { workspace_id: own } = useSession();
  const [isOpen, setOpen] = useState(false);
  const upload = useUpload();
  const bring = useBring({ path });
  return (
    <ForWriters>
      <Button look="primary" icon="plus" disabled={upload !== undefined} onClick={() => setOpen(true)}>
        Bring an archive in
      </Button>
      <Dialog title="Bring an archive in" isOpen={isOpen} onClose={() => setOpen(false)}>
        <div className="space-y-3 p-4">
          <p>
            What the archive has is added to {own}: runs, projects, conversations and their files, agents, workflows,
            memories. What is here already stays as it is, and bringing an archive twice brings nothing twice.
          </p>
          <ArchiveForm
            action="Bring it in"
            onChosen={(file) => {
              setOpen(false);
              bring(file);
            }}
          />
        </div>
      </Dialog>
    </ForWriters>
  );
}

/** Goes on with an upload that broke off, from the part that it came to. */
export function GoOn({ path, announced }: Bringing & { announced: WorkspaceImport }) {
  const upload = useUpload();
  const bring = useBring({ path, announced });
  if (upload?.announced?.id === announced.id) return null;
  return (
    <ForWriters>
      <section className="card space-y-3 p-3">
        <p>
          The upload has not come to its end: {announced.parts} of {announced.of_parts} parts are there. Choose the same
          file, and it goes on from there. After a day without a part it is forgotten.
        </p>
        <ArchiveForm action="Go on" onChosen={bring} />
      </section>
    </ForWriters>
  );
}

function ArchiveForm({ action, onChosen }: { action: string; onChosen: (file: File) => void }) {
  const [file, setFile] = useState<File>();
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (file) onChosen(file);
      }}
    >
      <Field label="Archive" hint="A .tar.gz file, as Exports gives it, here or in another deployment.">
        {(props) => (
          <input
            {...props}
            type="file"
            required
            accept=".gz,.tgz,application/gzip"
            className="field w-full py-1"
            onChange={({ target }) => setFile(target.files?.[0])}
          />
        )}
      </Field>
      <div className="flex justify-end">
        <Button type="submit" look="primary" disabled={!file}>
          {action}
        </Button>
      </div>
    </form>
  );
}

const STEPS: Record<Upload['step'], string> = {
  reading: 'Reading',
  asking: 'Waiting for your code:',
  sending: 'Sending',
};

/** How far the upload is; where it stands still, why, and how it goes on. */
export function Uploading({ path }: Bringing) {
  const upload = useUpload();
  const client = useQueryClient();
  const bring = useBring({ path, announced: upload?.announced });
  const id = upload?.announced?.id;
  // What was announced stands in the list from then on.
  useEffect(() => void (id !== undefined && client.invalidateQueries({ queryKey: ['resources'] })), [client, id]);
  if (!upload) return null;
  const { file, step, done, error } = upload;
  return (
    <section aria-label="Upload" className="card basis-full space-y-2 p-3 text-ink">
      <p aria-live="polite" className="break-words">
        {error === undefined ? STEPS[step] : 'Not sent:'} {file.name}
      </p>
      <div className="flex items-center gap-3">
        <progress
          aria-label={`${STEPS[step]} ${file.name}`}
          className="h-2 min-w-0 flex-1 accent-accent"
          max={file.size}
          value={done}
        />
        <span className="tabular text-sm text-soft">
          {bytes(done)} of {bytes(file.size)}
        </span>
      </div>
      <Refusal error={error} />
      {error === undefined ? (
        <p className="text-xs text-soft">
          Keep this window open until it is sent; other pages of the console can be used meanwhile.
        </p>
      ) : (
        <div className="flex gap-2">
          {upload.announced && (
            <Button icon="retry" onClick={() => bring(file)}>
              Go on
            </Button>
          )}
          <Button look="ghost" onClick={forgetUpload}>
            {upload.announced ? 'Later' : 'Leave it'}
          </Button>
        </div>
      )}
    </section>
  );
}
