/** Shows the picture of an agent, gives it another one, and takes it away. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { del, put } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { AgentDetail } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { notify } from '../../ui/notice.tsx';
import { resourceKey } from '../../ui/resource.tsx';

export function Avatar({ agent: { slug, has_avatar: isThere } }: { agent: AgentDetail }) {
  const client = useQueryClient();
  const path = `/v1/agents/${slug}/avatar`;
  // The address stays when the picture changes, and the browser would show the one that it has.
  const picture = useQuery({
    queryKey: resourceKey(path),
    queryFn: async ({ signal }) => dataUrlOf(await fetch(`/api/v1/cp${path}`, { signal, cache: 'no-store' })),
    enabled: isThere,
  });
  const giving = useMutation({
    mutationFn: (file: File) => {
      const form = new FormData();
      form.set('file', file);
      return put(path, form);
    },
    onSuccess() {
      notify('The picture is set');
      return client.invalidateQueries({ queryKey: ['resources'] });
    },
  });
  const may = mayChange(useSession());
  if (!isThere && !may) return null;
  return (
    <div className="flex flex-wrap items-start gap-3">
      {isThere && picture.data && (
        <img src={picture.data} alt={`Picture of ${slug}`} className="size-16 rounded-md border" />
      )}
      {may && (
        <div className="min-w-0 flex-1 space-y-2">
          <Field label="Picture" hint="PNG, JPEG or WebP, at most 2 MB.">
            {(props) => (
              <input
                {...props}
                type="file"
                accept="image/png,image/jpeg,image/webp"
                disabled={giving.isPending}
                className="field w-full py-1"
                onChange={({ target }) => {
                  const [file] = target.files ?? [];
                  target.value = '';
                  if (file) giving.mutate(file);
                }}
              />
            )}
          </Field>
          <Refusal error={giving.error} />
          <Acts
            acts={[{ label: 'Take the picture away', isHidden: !isThere, done: 'Taken away', act: () => del(path) }]}
          />
        </div>
      )}
    </div>
  );
}

async function dataUrlOf(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`The picture could not be read (${response.status}).`);
  const picture = await response.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The picture could not be read.'));
    reader.readAsDataURL(picture);
  });
}
