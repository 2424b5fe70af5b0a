/**
 * The page `/projects/new`, which takes a brief for a workflow and the parameters that the workflow asks for, and shows
 * the same request for a terminal.
 */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { post } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { prepare } from '../features/attachments/files.tsx';
import { workflowQuery, workflowsQuery } from '../features/projects/queries.ts';
import { Gallery } from '../features/samples/gallery.tsx';
import { samplesQuery, type WorkflowSample } from '../features/samples/queries.ts';
import { Button } from '../ui/button.tsx';
import { publicCurl } from '../ui/commands.ts';
import { Command } from '../ui/copy.tsx';
import { Problem, Refusal, Skeleton } from '../ui/empty.tsx';
import { Field, UsdField } from '../ui/field.tsx';
import { FileField } from '../ui/file-field.tsx';
import { StartPage } from '../ui/start-page.tsx';
import { SchemaFields, valuesOf, type Written } from '../ui/schema-fields.tsx';

/** @returns parameters as the texts with which somebody would have written them */
const writtenFrom = (params: Readonly<Record<string, unknown>>): Written =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value.join('\n') : String(value)]),
  );

const isSame = (a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean =>
  Object.keys({ ...a, ...b }).every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]));

export function NewProjectPage() {
  const { workflow: slug = 'blog-post' } = useSearch({ from: '/projects/new' });
  const navigate = useNavigate({ from: '/projects/new' });
  const { models } = useSession();
  const workflows = useQuery(workflowsQuery);
  const workflow = useQuery(workflowQuery(slug));
  const [brief, setBrief] = useState('');
  const [title, setTitle] = useState('');
  const [budget, setBudget] = useState('');
  const [files, setFiles] = useState<File[]>([]);
  const uploaded = useRef<{ files: File[]; ids: string[] }>(undefined);
  const [written, setWritten] = useState<Written>({});
  const schema = workflow.data?.spec.params ?? {};
  const params = valuesOf(schema, written);
  const body = {
    workflow_slug: slug,
    brief,
    title: title.trim() || brief.trim().split('\n')[0]!.slice(0, 200),
    ...(budget.trim() && { cost_budget_usd: budget.trim() }),
    ...(Object.keys(params).length > 0 && { params }),
  };
  const samples = useQuery(samplesQuery).data?.workflows ?? [];
  const sample = samples.find((each) => each.workflow === slug);
  const [started, setStarted] = useState<WorkflowSample>();
  const takeSample = (chosen: WorkflowSample) => {
    setStarted(chosen);
    setBrief(chosen.brief);
    setTitle(chosen.title);
    setWritten(writtenFrom(chosen.params));
    void navigate({ search: { workflow: chosen.workflow }, replace: true });
  };
  const isChanged =
    started !== undefined &&
    (started.workflow !== slug || started.brief !== brief.trim() || !isSame(started.params, params));
  const start = useMutation({
    mutationFn: async () => {
      if (files.length === 0) return post<{ id: string }>('/v1/projects', body);
      // What is uploaded is not sent again where the project itself was refused and is asked for once more.
      if (uploaded.current?.files !== files) uploaded.current = { files, ids: await prepare(files) };
      return post<{ id: string }>('/v1/projects', { ...body, attachment_ids: uploaded.current.ids });
    },
    onSuccess: ({ id }) => void navigate({ to: '/projects/$projectId', params: { projectId: id } }),
  });
  return (
    <StartPage
      title="New project"
      crumbs={[{ label: 'Projects', to: '/projects' }]}
      what="projects"
      onStart={() => start.mutate()}
      commands={
        <>
          {' '}
          <Command label="curl command" text={publicCurl({ method: 'POST', path: '/v1/projects', body })} />
        </>
      }
    >
      {samples.length > 0 && (
        <details className="card p-3" open={models.is_offline}>
          <summary className="font-medium">Start from a sample</summary>
          <div className="pt-3">
            <Gallery samples={samples} chosen={started?.workflow ?? ''} onChoose={takeSample} />
          </div>
        </details>
      )}
      <Field label="Workflow" hint={workflow.data?.description}>
        {(props) => (
          <select
            {...props}
            className="field w-full"
            value={slug}
            onChange={({ target }) => {
              setWritten({});
              void navigate({ search: { workflow: target.value }, replace: true });
            }}
          >
            {(workflows.data ?? [{ slug, name: slug }]).map((each) => (
              <option key={each.slug} value={each.slug}>
                {each.name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Brief" hint="What the project is about. Every phase is given it." isRequired>
        {(props) => (
          <textarea
            {...props}
            required
            rows={5}
            maxLength={50_000}
            className="field w-full resize-y py-2"
            value={brief}
            onChange={({ target }) => setBrief(target.value)}
          />
        )}
      </Field>
      {sample && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <Button onClick={() => takeSample(sample)}>Use the sample brief</Button>
          <span role="status" className="min-w-0 flex-1 text-soft">
            {started === undefined
              ? sample.summary
              : isChanged
                ? 'Changed: this is no longer the sample, so its recorded content is not used.'
                : models.is_offline
                  ? 'The sample as it was recorded. No model is called for it.'
                  : 'The brief of the sample. Your model answers it.'}
          </span>
        </div>
      )}
      {workflow.isError ? (
        <Problem error={workflow.error} />
      ) : workflow.data ? (
        <SchemaFields schema={schema} written={written} onChange={setWritten} />
      ) : (
        <Skeleton rows={3} />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Title" hint="Empty: the first line of the brief.">
          {(props) => (
            <input
              {...props}
              maxLength={200}
              className="field w-full"
              value={title}
              onChange={({ target }) => setTitle(target.value)}
            />
          )}
        </Field>
        <UsdField
          label="Budget, US dollars"
          hint="Nothing is spent beyond it: the project pauses and says so."
          value={budget}
          onChange={setBudget}
        />
      </div>
      <FileField
        label="Files"
        hint="Its agents can read them from the first step on. 10 at most, 25 MB together."
        files={files}
        onChange={setFiles}
      />
      {/* A form may be longer than the window: what sends it is always in sight. */}
      <div className="sticky bottom-0 -mx-4 space-y-2 border-t bg-ground px-4 py-3">
        <Refusal error={start.error} />
        <Button type="submit" look="primary" isBusy={start.isPending} disabled={brief.trim() === ''}>
          Start the project
        </Button>
      </div>
    </StartPage>
  );
}
