/** The page `/runs/new`, which takes a prompt for an agent, and shows the same request for a terminal. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { post } from '../api/client.ts';
import { agentsQuery } from '../features/runs/queries.ts';
import { Button } from '../ui/button.tsx';
import { publicCurl, quoted } from '../ui/commands.ts';
import { Command } from '../ui/copy.tsx';
import { Refusal } from '../ui/empty.tsx';
import { Field, UsdField } from '../ui/field.tsx';
import { Page } from '../ui/page.tsx';

export function NewRunPage() {
  const search = useSearch({ from: '/runs/new' });
  const navigate = useNavigate();
  const agents = useQuery(agentsQuery);
  const [agent, setAgent] = useState(search.agent ?? '');
  const [prompt, setPrompt] = useState('');
  const [model, setModel] = useState('');
  const [budget, setBudget] = useState('');
  const override = {
    ...(model.trim() && { model_override: model.trim() }),
    ...(budget.trim() && { cost_budget_usd: budget.trim() }),
  };
  const body = {
    ...(agent && { agent }),
    prompt,
    ...(Object.keys(override).length > 0 && { override }),
  };
  const start = useMutation({
    mutationFn: () => post<{ run_id: string }>('/v1/runs', body),
    onSuccess: ({ run_id: runId }) => void navigate({ to: '/runs/$runId', params: { runId } }),
  });
  const chosen = agents.data?.find(({ slug }) => slug === agent);

  return (
    <Page title="New run" crumbs={[{ label: 'Runs', to: '/runs' }]}>
      <form
        className="grid w-full max-w-5xl grid-cols-[minmax(0,1fr)] gap-6 p-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]"
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
      >
        <div className="space-y-4">
          <Field label="Prompt" hint="What the agent is asked to do.">
            {(props) => (
              <textarea
                {...props}
                required
                autoFocus
                rows={8}
                maxLength={500_000}
                className="field w-full resize-y py-2 leading-5"
                value={prompt}
                onChange={({ target }) => setPrompt(target.value)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
                    event.currentTarget.form?.requestSubmit();
                }}
              />
            )}
          </Field>
          <Field label="Agent" hint={chosen?.description ?? 'A classifier picks one by the prompt.'}>
            {(props) => (
              <select
                {...props}
                className="field w-full"
                value={agent}
                onChange={({ target }) => setAgent(target.value)}
              >
                <option value="">Let the service pick</option>
                {agents.data?.map(({ slug }) => (
                  <option key={slug}>{slug}</option>
                ))}
              </select>
            )}
          </Field>
          <details className="card p-3">
            <summary className="font-medium">Model and budget</summary>
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
              <UsdField
                label="Budget, US dollars"
                hint="The run stops before it would spend more."
                value={budget}
                onChange={setBudget}
                example="0.50"
              />
            </div>
          </details>
          <Refusal error={start.error} />
          <Button type="submit" look="primary" isBusy={start.isPending} disabled={prompt.trim() === ''}>
            Start the run
          </Button>
        </div>
        <aside aria-label="The same from a terminal" className="space-y-2">
          <h2 className="font-medium">The same from a terminal</h2>
          <Command label="curl command" text={publicCurl({ method: 'POST', path: '/v1/runs', body })} />
          <Command
            label="aos command"
            text={`npx aos run ${agent || 'auto'} ${quoted(prompt || 'your prompt')}${model.trim() ? ` --model ${model.trim()}` : ''} --follow`}
          />
          <p className="text-xs text-soft">KEY is an API key of the workspace.</p>
        </aside>
      </form>
    </Page>
  );
}
