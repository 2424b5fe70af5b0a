/** Shows what was asked, what came of it, and what it took. */
import { ForWriters } from '../../ui/for-writers.tsx';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { CopyButton } from '../../ui/copy.tsx';
import { count, shortId } from '../../ui/figures.ts';
import { Folded } from '../../ui/folded.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Money } from '../../ui/money.tsx';
import { Status } from '../../ui/status.tsx';
import { Time, Took } from '../../ui/time.tsx';
import { adaptedTools, describe, FALLBACK_NOTE, FALLBACK_RULE, waitInWords, withheldTools } from './event-words.ts';
import { beginningQuery } from './queries.ts';
import { isInFlight, type ShownRun } from './types.ts';
import { useText } from './use-text.ts';
import { useTimeline } from './use-run.ts';

const Markdown = lazy(() => import('../../ui/markdown.tsx').then((module) => ({ default: module.Markdown })));

export function Summary({ run }: { run: ShownRun }) {
  return (
    <div className="grid gap-4 p-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
      <div className="min-w-0 space-y-4">
        <Part title="Prompt" copy={run.prompt}>
          <Folded text={run.prompt} />
        </Part>
        {run.error && (
          <Part title="Why it failed" copy={run.error}>
            <p className="flex gap-2 break-words text-bad">
              <Icon name="cross" className="mt-0.5" />
              {run.error}
            </p>
            {run.budget?.limit_usd != null && run.status === 'failed' && (
              <p className="pt-2">
                <ForWriters>
                  <Link
                    to="/runs/new"
                    search={{ from: run.run_id }}
                    className="inline-flex min-h-8 items-center text-accent underline"
                  >
                    Run it with another budget
                  </Link>
                </ForWriters>
              </p>
            )}
          </Part>
        )}
        <Part title="Answer" copy={run.output ?? undefined}>
          <Answer run={run} />
        </Part>
      </div>
      <Facts run={run} />
    </div>
  );
}

export function Part({ title, copy, children }: { title: string; copy?: string | undefined; children: ReactNode }) {
  return (
    <section aria-label={title} className="card">
      <div className="flex min-h-9 items-center justify-between border-b pr-1 pl-3">
        <h2 className="text-sm font-medium text-soft">{title}</h2>
        {copy && <CopyButton text={copy} label={`Copy the ${title.toLowerCase()}`} />}
      </div>
      <div className="p-3">{children}</div>
    </section>
  );
}

function Answer({ run }: { run: ShownRun }) {
  if (run.output !== null) {
    return (
      <Suspense fallback={<p className="whitespace-pre-wrap">{run.output}</p>}>
        <Markdown text={run.output} />
      </Suspense>
    );
  }
  if (isInFlight(run.status)) return <Doing run={run} />;
  return <p className="text-soft">It left none.</p>;
}

/** Shows the latest event while there is no answer yet. */
function Doing({ run }: { run: ShownRun }) {
  const events = useTimeline(run.run_id).data?.events;
  const latest = events?.at(-1);
  const text = useText(run.run_id, true);
  // A growing text is not announced, so that a screen reader reads the answer once, when it is complete.
  if (text !== '') return <p className="whitespace-pre-wrap break-words">{text}</p>;
  return (
    <p aria-live="polite" className="flex items-center gap-2 text-busy">
      <Icon name={run.status === 'queued' ? 'clock' : 'spinner'} />
      <span className="min-w-0 truncate">{latest ? describe(latest) : 'Waits for a worker'}</span>
    </p>
  );
}

function Facts({ run }: { run: ShownRun }) {
  const tokens = run.input_tokens + run.output_tokens;
  const beginning = useQuery(beginningQuery(run.run_id)).data?.data ?? [];
  const begun = (type: string) => beginning.find(({ event_type: each }) => each === type)?.payload ?? {};
  const { effort } = begun('model_resolved');
  const context = begun('context_loaded');
  const [withheld, adapted] = [withheldTools(context), adaptedTools(context)];
  const facts: readonly (readonly [name: string, value: ReactNode] | false)[] = [
    ['Status', <Status status={run.status} />],
    run.waits_for !== null && [
      'Waits for',
      <>
        {waitInWords(run.waits_for.what)}, since <Time at={run.waits_for.since} />
      </>,
    ],
    ['Took', <Took from={run.started_at} to={run.completed_at} />],
    ['Spent', <Money usd={run.cost_usd} isPriced={run.is_priced} />],
    Number(run.saved_usd) > 0 && ['Saved by caches', <Money usd={run.saved_usd} />],
    run.budget !== null && isInFlight(run.status) && ['Reserved', <Money usd={run.budget.reserved_usd} />],
    !run.is_priced && ['Unpriced', 'the price of a call is not known'],
    run.budget?.limit_usd != null && ['Budget', <Money usd={run.budget.limit_usd} />],
    ['Model', run.model ? `${run.model} (${run.model_rule.replaceAll('_', ' ')})` : 'not chosen yet'],
    run.model_rule === FALLBACK_RULE && ['Why this model', FALLBACK_NOTE],
    typeof effort === 'string' && ['Effort', effort],
    withheld.length > 0 && ['Tools withheld', <Reasons tools={withheld} />],
    adapted.length > 0 && ['Tools told in another form', <Reasons tools={adapted} />],
    ['Turns', count(run.turn_count)],
    ['Tokens', `${count(tokens)} (${count(run.input_tokens)} in, ${count(run.output_tokens)} out)`],
    ['Events', count(run.event_count)],
    ['Transport', run.transport],
    run.thread_id !== null && ['Conversation', run.thread_id],
    ['Accepted', <Time at={run.created_at} isAbsolute />],
    run.started_at !== null && ['Started', <Time at={run.started_at} isAbsolute />],
    run.completed_at !== null && ['Ended', <Time at={run.completed_at} isAbsolute />],
    run.parent_run_id !== null && ['Started by', <RunLink runId={run.parent_run_id} />],
  ];
  return (
    <aside aria-label="Facts" className="space-y-4">
      <dl className="card tabular grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 p-3 text-sm">
        {facts
          .filter((fact) => fact !== false)
          .map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="break-words">{value}</dd>
            </div>
          ))}
      </dl>
      {run.children.length > 0 && (
        <section aria-label="Runs that it started" className="card">
          <h2 className="border-b px-3 py-2 text-sm font-medium text-soft">Runs that it started</h2>
          <ul>
            {run.children.map((child) => (
              <li key={child.run_id}>
                <Link
                  to="/runs/$runId"
                  params={{ runId: child.run_id }}
                  className="flex min-h-8 items-center gap-2 px-3 text-sm hover:bg-raised"
                >
                  <Status status={child.status} isIconOnly />
                  <span className="min-w-0 flex-1 truncate">{child.agent ?? shortId(child.run_id)}</span>
                  <Money usd={child.cost_usd} />
                </Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </aside>
  );
}

const Reasons = ({ tools }: { tools: readonly (readonly [slug: string, why: string])[] }) => (
  <ul className="space-y-1">
    {tools.map(([slug, why]) => (
      <li key={slug}>
        <span className="break-all">{slug}</span>
        {why && <span className="text-soft">: {why}</span>}
      </li>
    ))}
  </ul>
);

const RunLink = ({ runId }: { runId: string }) => (
  <Link to="/runs/$runId" params={{ runId }} className="font-mono text-xs text-accent underline">
    {shortId(runId)}
  </Link>
);
