/** The HTTP contract of manifests: a workspace as files, what files would change in it, and that change made. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { listReply, Timestamp } from '../../platform/http/schemas.ts';
import { MANIFEST_KINDS, MAX_FIELDS, MAX_MANIFEST_BYTES, MAX_MANIFESTS, MAX_SECRETS } from './model.ts';

const File = z.string().max(500).describe('Where it was read, for messages');
const Content = z.record(z.string(), z.unknown());

const given = {
  source: z
    .string()
    .min(1)
    .max(200)
    .default('default')
    .describe('Whose files these are, where several repositories have one workspace: each prunes its own alone'),
  prune: z.boolean().default(false).describe('Delete what files of this source made and is in them no more'),
  manifests: z
    .array(
      z.object({
        kind: z.enum(MANIFEST_KINDS),
        file: File.optional(),
        content: Content.meta({ maxProperties: MAX_FIELDS }).describe(
          'What the file says; what it leaves out is as it is by default',
        ),
      }),
    )
    .max(MAX_MANIFESTS),
  secrets: z
    .record(z.string().max(200), z.string().max(20_000))
    .meta({ maxProperties: MAX_SECRETS })
    .optional()
    .describe('Values of the variables that files name as `{ env: NAME }`. What is not given stays as it is'),
};
const GivenManifests = z.object(given).meta({ id: 'GivenManifests' });
export type GivenManifests = z.output<typeof GivenManifests>;

const AppliedManifests = z
  .object({
    ...given,
    revision: z.string().max(200).nullish().describe('What the files are a state of: a commit'),
    state: z
      .string()
      .max(64)
      .optional()
      .describe('As the plan has it: what has changed since then is refused, and not overwritten'),
  })
  .meta({ id: 'AppliedManifests' });

const Change = z.object({
  action: z.enum(['create', 'update', 'delete']),
  kind: z.enum(MANIFEST_KINDS),
  name: z.string(),
  file: z.string().nullable(),
  fields: z
    .array(z.object({ path: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }))
    .describe('What is different; items of lists are followed by their slugs'),
  secrets: z
    .array(z.object({ path: z.string(), to: z.string() }))
    .describe('Each secret that it uses, and the origin that the secret is for'),
  affects: z.array(z.string()).describe('What goes on with what it was, or changes with it'),
});
const Plan = z
  .object({
    changes: z.array(Change).describe('In the order in which they are made'),
    unchanged: z.int(),
    taken_over: z
      .int()
      .describe('Of those: as in the files already, and not known to be from them until this is applied'),
    left: z
      .array(
        z.object({
          kind: z.enum(MANIFEST_KINDS),
          name: z.string(),
          file: z.string().nullable(),
          made_by_hand: z.boolean().describe('People made it, and files only took it over: `prune` leaves it'),
        }),
      )
      .describe('Came from files of this source and is in them no more, and stays'),
    state: z.string().describe('Stands for all that the plan has seen'),
  })
  .meta({ id: 'ManifestPlan' });

const Deployed = z
  .object({
    kind: z.enum(MANIFEST_KINDS),
    name: z.string(),
    source: z.string(),
    file: z.string().nullable(),
    revision: z.string().nullable(),
    applied_by: z.string(),
    applied_at: Timestamp,
    state: z.enum(['as_applied', 'changed', 'gone']).describe('Whether somebody has changed or deleted it since'),
  })
  .meta({ id: 'DeployedManifest' });

export const exportManifests = endpoint({
  id: 'manifests.export',
  right: 'manifests.read',
  path: '/v1/manifests',
  summary: 'What the workspace has made, as files say it, without secrets',
  reply: listReply(z.object({ kind: z.enum(MANIFEST_KINDS), name: z.string(), content: Content })),
});

export const listDeployed = endpoint({
  id: 'manifests.deployed',
  right: 'manifests.read',
  path: '/v1/manifests/deployed',
  summary: 'What came from files, when and by whom, and whether it was changed by hand since',
  reply: listReply(Deployed),
});

export const planManifests = endpoint({
  id: 'manifests.plan',
  right: 'manifests.apply',
  path: '/v1/manifests/plan',
  audited: false,
  summary: 'What would be made and changed, and what that affects; nothing is',
  description: 'Whatever is wrong with any of them is told at once, as 422, with its place in the list.',
  body: GivenManifests,
  maxBodyBytes: MAX_MANIFEST_BYTES,
  reply: Plan,
});

export const applyManifests = endpoint({
  id: 'manifests.apply',
  right: 'manifests.apply',
  path: '/v1/manifests/apply',
  summary: 'Bring the workspace to what the files say: all of it, or nothing',
  body: AppliedManifests,
  maxBodyBytes: MAX_MANIFEST_BYTES,
  reply: Plan,
  problems: ['plan_outdated', 'plan_limit_exceeded', 'embedding_failed', 'name_taken', 'bad_request'],
});
