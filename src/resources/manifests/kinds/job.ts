/** Manifests of scheduled jobs. Those that ship are not written: a workspace only says whether and when they run. */
import { z } from 'zod';
import { cronProblem } from '../../../platform/core/cron.ts';
import { present } from '../../../platform/core/present.ts';
import { findSchemaProblem } from '../../../platform/core/schema-checks.ts';
import type { FollowRow } from '../../../platform/temporal/triggers.ts';
import { NewJob } from '../../scheduled-jobs/contract.ts';
import type { JobService } from '../../scheduled-jobs/service.ts';
import type { JobRow, JobStore } from '../../scheduled-jobs/store.ts';
import type { WorkspaceStore } from '../../workspaces/store/index.ts';
import { defineKind, findingIn, shaped, type Kind } from '../kind.ts';

const of = NewJob.shape;
const JobManifest = z
  .strictObject({
    name: of.name,
    cron: of.cron,
    agent_slug: of.agent_slug,
    brief: of.brief,
    enabled: of.enabled,
    model: of.model.transform((model) => model ?? 'auto').default('auto'),
    reasoning: of.reasoning.transform((reasoning) => reasoning ?? null).default(null),
    output_schema: of.output_schema.transform((schema) => schema ?? null).default(null),
  })
  .meta({ title: 'A scheduled job' });
type JobManifest = z.output<typeof JobManifest>;

interface Dependencies {
  store: Pick<JobStore, 'list' | 'count' | 'insert' | 'change' | 'delete'>;
  jobs: Pick<JobService, 'triggerOf' | 'dropFiles'>;
  workspaces: Pick<WorkspaceStore, 'underCap'>;
  follow: FollowRow;
}

const manifestOf = (row: JobRow): JobManifest => ({
  name: row.name,
  cron: row.cron,
  agent_slug: row.agentSlug,
  brief: row.brief,
  enabled: row.enabled,
  model: row.model,
  reasoning: row.reasoning,
  output_schema: row.outputSchema,
});

export function jobKind({ store, jobs, workspaces, follow }: Dependencies): Kind {
  const { byName, named } = findingIn({ list: store.list, nameOf: ({ name }) => name, manifestOf });
  return defineKind<JobManifest>({
    kind: 'job',
    nameField: 'name',
    shape: JobManifest,
    read: async (content) => shaped(JobManifest, content),
    defaults: { enabled: true, model: 'auto', reasoning: null, output_schema: null },
    ...byName,
    references: ({ agent_slug: name }) => [{ kind: 'agent', name, path: ['agent_slug'] }],
    async check(_customerId, { cron, output_schema: schema }) {
      const faults = { cron: cronProblem(cron), output_schema: schema && (await findSchemaProblem(schema)) };
      return Object.entries(faults).flatMap(([field, message]) => (message ? [{ path: [field], message }] : []));
    },
    prepare:
      async ({ customerId, workspaceId }, { agent_slug: agentSlug, output_schema: outputSchema, ...rest }) =>
      async () => {
        const values = { ...rest, agentSlug, outputSchema };
        const [before] = await named(customerId, values.name);
        const row = before
          ? (await store.change(customerId, before.n, values)).after
          : await workspaces.underCap(
              customerId,
              'scheduled_jobs',
              () => store.count(customerId),
              () => store.insert(customerId, values),
            );
        return () => follow.change(jobs.triggerOf(row, workspaceId));
      },
    remove:
      ({ customerId, workspaceId }, name) =>
      async () => {
        const row = present((await named(customerId, name))[0], `the job ${name}`);
        await store.delete(customerId, row.n);
        return async () => {
          await follow.remove(jobs.triggerOf(row, workspaceId).scheduleId);
          await jobs.dropFiles(customerId, row.n);
        };
      },
  });
}
