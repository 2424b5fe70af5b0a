/** A button that opens the form which changes the one thing of a pane. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { patch, post, put } from '../api/client.ts';
import { mayChange, useSession } from '../api/session.ts';
import { Button } from './button.tsx';
import { notify } from './notice.tsx';
import { RequestForm } from './request-form.tsx';

const SEND = { PATCH: patch, POST: post, PUT: put };

interface ChangeProps {
  label: string;
  title: string;
  schema: string;
  path: string;
  /** POST makes something new in the place of the thing, so the form begins empty. */
  method?: keyof typeof SEND;
  /** The values that a form begins with whose every field is sent. */
  start?: Readonly<Record<string, string>>;
  before?: Readonly<Record<string, unknown>>;
  choices?: Readonly<Record<string, readonly string[]>>;
  without?: readonly string[];
  done: string;
  /** What else shows the thing is loaded again. */
  onDone?: () => unknown;
}

export function Change({
  label,
  title,
  schema,
  path,
  method = 'PATCH',
  start,
  before,
  choices,
  without,
  done,
  onDone,
}: ChangeProps) {
  const client = useQueryClient();
  const isViewer = !mayChange(useSession());
  const [isOpen, setOpen] = useState(false);
  // Who may not change anything sees no button, rather than a refusal.
  if (isViewer) return null;
  return (
    <>
      <Button onClick={() => setOpen(true)}>{label}</Button>
      {isOpen && (
        <RequestForm
          title={title}
          action={label}
          schema={schema}
          request={{ method, path }}
          {...(start && { start })}
          {...(before && { before })}
          {...(choices && { choices })}
          {...(without && { without })}
          onClose={() => setOpen(false)}
          send={async (values) => {
            await SEND[method](path, values);
            notify(done);
            await onDone?.();
            await client.invalidateQueries({ queryKey: ['resources'] });
          }}
        />
      )}
    </>
  );
}
