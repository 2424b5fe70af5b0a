/** Shows a request of the service as a form in a dialog, with the same request for a terminal. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { schemaQuery } from '../api/schemas.ts';
import { Button } from './button.tsx';
import { controlPlaneCurl } from './commands.ts';
import { Command } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Problem, Refusal, Skeleton } from './empty.tsx';
import { Field } from './field.tsx';
import { SchemaFields, valuesOf, writtenOf, type JsonSchema, type Written } from './schema-fields.tsx';

interface RequestFormProps {
  title: string;
  /** The verb on the button. */
  action: string;
  /** The name of the request's schema in the service's description. */
  schema: string;
  /** Where it throws, the error is shown and the dialog stays. */
  send: (values: Record<string, unknown>) => Promise<unknown>;
  onClose: () => void;
  /** The request as the command beside the form shows it. */
  request: { method: string; path: string };
  /** The values before a change. Only fields that differ from them are sent. */
  before?: Readonly<Record<string, unknown>>;
  /** The values that the form begins with. */
  start?: Written;
  choices?: Readonly<Record<string, readonly string[]>>;
  without?: readonly string[];
  children?: ReactNode;
}

export function RequestForm(props: RequestFormProps) {
  const { data, error } = useQuery(schemaQuery(props.schema));
  return (
    <Dialog title={props.title} isOpen onClose={props.onClose} className="max-h-[90vh] overflow-y-auto">
      {error ? <Problem error={error} /> : data ? <Form {...props} form={data as JsonSchema} /> : <Skeleton rows={4} />}
    </Dialog>
  );
}

/** @returns the kind of a variant; each kind has fields of its own */
const kindOf = (variant: JsonSchema): string => String(variant.properties?.kind?.const ?? '');

function Form({
  form,
  action,
  send,
  onClose,
  request,
  before,
  start,
  choices,
  without,
  children,
}: RequestFormProps & { form: JsonSchema }) {
  const kinds = form.oneOf?.map(kindOf) ?? [];
  const [kind, setKind] = useState(kinds[0]);
  const schema = form.oneOf?.find((variant) => kindOf(variant) === kind) ?? form;
  const was = before && writtenOf(schema, before);
  const [written, setWritten] = useState<Written>(was ?? start ?? {});
  const values = { ...valuesOf(schema, written, was), ...(kind && { kind }) };
  const sending = useMutation({ mutationFn: () => send(values), onSuccess: onClose });
  return (
    <form
      className="space-y-4 p-4"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate();
      }}
    >
      {children}
      {kinds.length > 0 && (
        <Field label="Kind">
          {(props) => (
            <select {...props} className="field w-full" value={kind} onChange={({ target }) => setKind(target.value)}>
              {kinds.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      <SchemaFields
        schema={schema}
        written={written}
        onChange={setWritten}
        {...(choices && { choices })}
        {...(without && { without })}
      />
      <details>
        <summary className="min-h-8 text-sm text-soft">The same from a terminal</summary>
        <Command label="curl command" text={controlPlaneCurl({ ...request, body: values })} />
      </details>
      <Refusal error={sending.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" isBusy={sending.isPending}>
          {action}
        </Button>
      </div>
    </form>
  );
}
