/** The page `/runs/new`, which takes a prompt for an agent, and shows the same request for a terminal. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../api/client.ts';
import { agentsQuery, runQuery } from '../features/runs/queries.ts';
import { EFFORTS, type ShownRun } from '../features/runs/types.ts';
import { samplesQuery } from '../features/samples/queries.ts';
import { Button } from '../ui/button.tsx';
import { publicCurl, quoted } from '../ui/commands.ts';
import { Command } from '../ui/copy.tsx';
import { Problem, Refusal, Skeleton } from '../ui/empty.tsx';
import { Field, UsdField } from '../ui/field.tsx';
import { money } from '../ui/figures.ts';
import { FileField } from '../ui/file-field.tsx';
import { Page } from '../ui/page.tsx';
import { StartPage } from '../ui/start-page.tsx';

const MAX_PROMPT = 500_000;

const promptOf = (typed: string, texts: readonly string[]): string => [typed, ...texts].join('\n\n');

/** @throws Error for a file that is no text */
const textsOf = (files: readonly File[]): Promise<string[]> =>
  Promise.all(
    files.map(async (file) => {
      const decoder = new TextDecoder('utf-8', { fatal: true });
      try {
        const text = decoder.decode(await file.arrayBuffer());
        if (!text.includes('\0')) return `File ${file.name}:\n\n${text}`;
      } catch {
        // What cannot be decoded is refused below.
      }
      throw new Error(`${file.name} is no text. Start a project with it: its agents can open files.`);
    }),
  );

/** @returns undefined for a text that is no JSON object */
function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

const CRUMBS = [{ label: 'Runs', to: '/runs' }];

/** With `from` in the address the form begins with what an earlier run was asked. */
export function NewRunPage() {
  const { from } = useSearch({ from: '/runs/new' });
  const earlier = useQuery({ ...runQuery(from ?? ''), enabled: from !== undefined });
  if (from !== undefined && !earlier.data) {
    return (
      <Page title="New run" crumbs={CRUMBS}>
        {earlier.error ? <Problem error={earlier.error} /> : <Skeleton />}
      </Page>
    );
  }
  return <NewRun key={from} earlier={earlier.data} />;
}

function NewRun({ earlier }: { earlier: ShownRun | undefined }) {
  const search = useSearch({ from: '/runs/new' });
  const navigate = useNavigate();
  const agents = useQuery(agentsQuery);
  const [agent, setAgent] = useState(earlier?.agent ?? search.agent ?? '');
  const [typed, setPrompt] = useState(earlier?.prompt ?? '');
  const [files, setFiles] = useState<File[]>([]);
  const [texts, setTexts] = useState<string[]>([]);
  const [refusal, setRefusal] = useState<Error>();
  const prompt = promptOf(typed, texts);
  const [model, setModel] = useState('');
  const [effort, setEffort] = useState('');
  const [schema, setSchema] = useState('');
  const outputSchema = schema.trim() ? objectIn(schema) : undefined;
  const isNoSchema = schema.trim() !== '' && outputSchema === undefined;
  const [budget, setBudget] = useState('');
  const limit = earlier?.budget?.limit_usd;
  const override = {
    ...(model.trim() && { model_override: model.trim() }),
    ...(effort && { effort }),
    ...(budget.trim() && { cost_budget_usd: budget.trim() }),
  };
  const body = {
    ...(agent && { agent }),
    prompt,
    ...(Object.keys(override).length > 0 && { override }),
    ...(outputSchema && { output_schema: outputSchema }),
  };
  const start = useMutation({
    mutationFn: () => post<{ run_id: string }>('/v1/runs', body),
    onSuccess: ({ run_id: runId }) => void navigate({ to: '/runs/$runId', params: { runId } }),
  });
  const chosen = agents.data?.find(({ slug }) => slug === agent);
  const samples = useQuery(samplesQuery).data?.prompts ?? [];

  return (
    <StartPage
      title="New run"
      crumbs={CRUMBS}
      what="runs"
      onStart={() => start.mutate()}
      commands={
        <>
          {' '}
          <Command label="curl command" text={publicCurl({ method: 'POST', path: '/v1/runs', body })} />
          <Command
            label="aos command"
            text={`npx aos run ${agent || 'auto'} ${quoted(prompt || 'your prompt')}${model.trim() ? ` --model ${model.trim()}` : ''}${effort ? ` --effort ${effort}` : ''}${outputSchema ? ' --schema schema.json' : ''} --follow`}
          />
        </>
      }
    >
      <Field label="Prompt" hint="What the agent is asked to do.">
        {(props) => (
          <textarea
            {...props}
            required
            autoFocus
            rows={8}
            maxLength={MAX_PROMPT}
            className="field w-full resize-y py-2 leading-5"
            value={typed}
            onChange={({ target }) => setPrompt(target.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
            }}
          />
        )}
      </Field>
      {samples.length > 0 && (
        <details className="card p-3">
          <summary className="font-medium">Start from a sample</summary>
          <ul className="space-y-1 pt-2">
            {samples.map((sample) => (
              <li key={sample.slug}>
                <button
                  type="button"
                  className="w-full rounded px-2 py-1.5 text-left hover:bg-raised"
                  onClick={() => {
                    setPrompt(sample.prompt);
                    setAgent(sample.agent);
                  }}
                >
                  <span className="block text-sm font-medium">{sample.title}</span>
                  <span className="block text-xs text-soft">{sample.summary}</span>
                </button>
              </li>
            ))}
          </ul>
        </details>
      )}
      <FileField
        label="Text files"
        hint="Their text is put behind the prompt. Other files belong to a project, whose agents can open them."
        accept="text/*,.md,.json,.csv,.yaml,.yml,.xml,.svg,.ts,.js,.py"
        files={files}
        onChange={(next) => {
          setRefusal(undefined);
          textsOf(next).then((read) => {
            setFiles(next);
            setTexts(read);
          }, setRefusal);
        }}
      />
      {prompt.length > MAX_PROMPT && (
        <Refusal error={new Error('Prompt and files are longer than 500,000 characters together.')} />
      )}
      <Refusal error={refusal} />
      <Field label="Agent" hint={chosen?.description ?? 'A classifier picks one by the prompt.'}>
        {(props) => (
          <select {...props} className="field w-full" value={agent} onChange={({ target }) => setAgent(target.value)}>
            <option value="">Let the service pick</option>
            {agents.data?.map(({ slug }) => (
              <option key={slug}>{slug}</option>
            ))}
          </select>
        )}
      </Field>
      <details className="card p-3" open={limit != null}>
        <summary className="font-medium">Model, answer and budget</summary>
        <div className="grid gap-4 pt-3 sm:grid-cols-2">
          <Field label="Model" hint="Empty: the agent’s own. A model id, or auto.">
            {(props) => (
              <input
                {...props}
                className="field w-full"
                value={model}
                onChange={({ target }) => setModel(target.value)}
              />
            )}
          </Field>
          <Field label="Effort" hint="How hard the model thinks before it answers. Default: the agent’s own.">
            {(props) => (
              <select
                {...props}
                className="field w-full"
                value={effort}
                onChange={({ target }) => setEffort(target.value)}
              >
                <option value="">Default</option>
                {EFFORTS.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            )}
          </Field>
          <UsdField
            label="Budget, US dollars"
            hint={`The run stops before it would spend more.${limit == null ? '' : ` The earlier one had ${money(limit)}.`}`}
            value={budget}
            onChange={setBudget}
            example="0.50"
          />
          <div className="space-y-1 sm:col-span-2">
            <Field label="Schema of the answer" hint="A JSON Schema: the answer is one JSON value of it. Empty: text.">
              {(props) => (
                <textarea
                  {...props}
                  rows={4}
                  spellCheck={false}
                  aria-invalid={isNoSchema}
                  className="field w-full py-1.5 font-mono text-xs leading-5"
                  value={schema}
                  onChange={({ target }) => setSchema(target.value)}
                />
              )}
            </Field>
            <Refusal error={isNoSchema && new Error('This is no JSON object.')} />
          </div>
        </div>
      </details>
      <Refusal error={start.error} />
      <Button
        type="submit"
        look="primary"
        isBusy={start.isPending}
        disabled={typed.trim() === '' || isNoSchema || prompt.length > MAX_PROMPT}
      >
        Start the run
      </Button>
    </StartPage>
  );
}
