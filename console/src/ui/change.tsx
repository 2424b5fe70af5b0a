/** A button that opens the form which changes the one thing of a pane. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { patch, post } from '../api/client.ts';
import { Button } from './button.tsx';
import { notify } from './notice.tsx';
import { RequestForm } from './request-form.tsx';

interface ChangeProps {
  label: string;
  title: string;
  schema: string;
  path: string;
  /** POST makes something new in the place of the thing, so the form begins empty. */
  method?: 'PATCH' | 'POST';
  before?: Readonly<Record<string, unknown>>;
  choices?: Readonly<Record<string, readonly string[]>>;
  without?: readonly string[];
  done: string;
}

export function Change({ label, title, schema, path, method = 'PATCH', before, choices, without, done }: ChangeProps) {
  const client = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{label}</Button>
      {isOpen && (
        <RequestForm
          title={title}
          action={label}
          schema={schema}
          request={{ method, path }}
          {...(before && { before })}
          {...(choices && { choices })}
          {...(without && { without })}
          onClose={() => setOpen(false)}
          send={async (values) => {
            await (method === 'PATCH' ? patch(path, values) : post(path, values));
            notify(done);
            await client.invalidateQueries({ queryKey: ['resources'] });
          }}
        />
      )}
    </>
  );
}
