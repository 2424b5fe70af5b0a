/** Leads through the first five minutes: three real actions, each of which shows by itself that it is done. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { get, post } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import type {
  InboxListResponse,
  NewWebhook,
  ProjectsListResponse,
  WebhookDeliveriesListResponse,
} from '../../api/types.ts';
import { useRefresh } from '../../live/live.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { publicCurl } from '../../ui/commands.ts';
import { Command } from '../../ui/copy.tsx';
import { cx } from '../../ui/cx.ts';
import { Refusal } from '../../ui/empty.tsx';
import { Field } from '../../ui/field.tsx';
import { Icon } from '../../ui/icon.tsx';
import { runCountsQuery } from '../runs/queries.ts';
import { FIRST_PROMPT, FIRST_WORKFLOW, projectBodyOf, runBodyOf, samplesQuery } from '../samples/queries.ts';

const HOOK = 'http://127.0.0.1:9000/hook';
const RECEIVER = `node -e 'require("http").createServer((q, a) => { q.pipe(process.stdout); a.end() }).listen(9000)'`;

export function Tour() {
  const client = useQueryClient();
  const { models } = useSession();
  const [url, setUrl] = useState(HOOK);
  const counts = useQuery(runCountsQuery());
  const projects = useQuery({
    queryKey: ['projects', 'list', 'tour'],
    queryFn: ({ signal }) => get<ProjectsListResponse>('/v1/projects', { limit: 1 }, signal),
  });
  const answered = useQuery({
    queryKey: ['inbox', 'tour'],
    queryFn: ({ signal }) => get<InboxListResponse>('/v1/inbox', { status: 'settled', limit: 1 }, signal),
  });
  const deliveries = useQuery({
    queryKey: ['resources', 'deliveries', 'tour'],
    queryFn: ({ signal }) =>
      get<WebhookDeliveriesListResponse>('/v1/webhook-deliveries', { status: 'delivered', limit: 1 }, signal),
  });
  useRefresh(
    () => {
      for (const key of ['runs', 'projects', 'inbox', 'resources']) void client.invalidateQueries({ queryKey: [key] });
    },
    { kinds: ['run', 'project', 'wait', 'delivery'] },
  );
  const samples = useQuery(samplesQuery).data;
  const runBody = runBodyOf(samples?.prompts.find(({ slug }) => slug === FIRST_PROMPT));
  const projectBody = projectBodyOf(samples?.workflows.find(({ workflow }) => workflow === FIRST_WORKFLOW));
  const run = useMutation({ mutationFn: () => post<{ run_id: string }>('/v1/runs', runBody) });
  const project = useMutation({ mutationFn: () => post<{ id: string }>('/v1/projects', projectBody) });
  const webhook = useMutation({
    mutationFn: async () => {
      await post<NewWebhook>('/v1/webhook-deliveries/endpoints', { url, description: 'The tour' });
      await post('/v1/runs', runBody);
    },
  });
  const hasProject = (projects.data?.meta.total ?? 0) > 0;
  return (
    <ol className="mx-auto w-full max-w-3xl space-y-4 p-4">
      <Step
        n={1}
        title="Run an agent"
        isDone={(counts.data?.succeeded ?? 0) > 0}
        error={run.error}
        act={
          <Button look="primary" isBusy={run.isPending} disabled={!samples} onClick={() => run.mutate()}>
            Start this run
          </Button>
        }
        then={
          <Link to="/runs" className={buttonClass()}>
            Look at its timeline
          </Link>
        }
      >
        <p>
          A run takes a prompt, works through turns of a model and its tools, and leaves a timeline, an answer, a cost.
        </p>
        {models.is_offline && (
          <p className="flex flex-wrap items-center gap-1.5 text-warn">
            <Icon name="model" /> No model is configured: these samples are answered from recordings.
            <Link
              to="/workspace"
              search={{ tab: 'integrations' }}
              className="inline-flex min-h-6 items-center underline"
            >
              Set a model key
            </Link>
          </p>
        )}
        <Command label="curl command" text={publicCurl({ method: 'POST', path: '/v1/runs', body: runBody })} />
      </Step>
      <Step
        n={2}
        title="Approve a project"
        isDone={(answered.data?.data.length ?? 0) > 0}
        error={project.error}
        act={
          hasProject ? (
            <Link to="/inbox" className={buttonClass('primary')}>
              Answer what waits
            </Link>
          ) : (
            <Button look="primary" isBusy={project.isPending} disabled={!samples} onClick={() => project.mutate()}>
              Start a blog post
            </Button>
          )
        }
        then={
          <Link to="/projects" className={buttonClass()}>
            Look at the project
          </Link>
        }
      >
        <p>
          A project goes through phases. This one researches, outlines and writes, and waits in the inbox until somebody
          has approved the draft.
        </p>
        <Command label="aos command" text={`npx aos project start ${FIRST_WORKFLOW} --sample --watch`} />
      </Step>
      <Step
        n={3}
        title="See a webhook arrive"
        isDone={(deliveries.data?.meta.total ?? 0) > 0}
        error={webhook.error}
        act={
          <Button look="primary" isBusy={webhook.isPending} onClick={() => webhook.mutate()}>
            Register it and send one
          </Button>
        }
        then={
          <Link to="/webhooks" search={{ tab: 'deliveries' }} className={buttonClass()}>
            Look at the delivery
          </Link>
        }
      >
        <p>
          Everything that happens can be posted to an address of yours, signed. Have one ready, or start this receiver
          on the machine of the service, which has to be allowed to reach it:
        </p>
        <Command label="receiver" text={RECEIVER} />
        <Command
          label="start of the service"
          text="WEBHOOK_ALLOW_HTTP=true EGRESS_ALLOWLIST=127.0.0.1:9000 npm start"
        />
        <Field label="Address">
          {(props) => (
            <input
              {...props}
              type="url"
              className="field w-full"
              value={url}
              onChange={({ target }) => setUrl(target.value)}
            />
          )}
        </Field>
      </Step>
    </ol>
  );
}

interface StepProps {
  n: number;
  title: string;
  isDone: boolean;
  error: unknown;
  act: ReactNode;
  /** Is shown once the action is done. */
  then: ReactNode;
  children: ReactNode;
}

function Step({ n, title, isDone, error, act, then, children }: StepProps) {
  return (
    <li aria-label={title} className={cx('card space-y-3 p-4', isDone && 'border-good')}>
      <h2 className="flex items-center gap-2 text-lg font-semibold">
        <span className={isDone ? 'text-good' : 'text-soft'}>{isDone ? <Icon name="check" /> : n}</span>
        {title}
        {isDone && <span className="text-sm font-normal text-good">done</span>}
      </h2>
      {children}
      <Refusal error={error} />
      {isDone ? then : act}
    </li>
  );
}
