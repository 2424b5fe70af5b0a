/**
 * Manifests of workflows. The file has no version: a spec that differs becomes the next one, and projects keep theirs.
 */
import { isRecord } from '../../../platform/core/record.ts';
import { WorkflowManifest } from '../../templates/manifest.ts';
import type { WorkflowSpec } from '../../templates/model.ts';
import { isUnequipped, type TemplateService } from '../../templates/service.ts';
import type { TemplateRow, TemplateStore } from '../../templates/store.ts';
import { canonical } from '../../../platform/core/json.ts';
import { defineKind, listed, shaped, unknownIn, type Kind } from '../kind.ts';
import type { Fault, Path, ManifestReference } from '../model.ts';

const Metadata = WorkflowManifest.pick({ collection: true, tags: true });

interface Dependencies {
  templates: Pick<TemplateService, 'readSpec'>;
  store: Pick<TemplateStore, 'list' | 'find' | 'listVersions' | 'create' | 'createNext' | 'changeLatest' | 'archive'>;
  actionNames: readonly string[];
}

const manifestOf = ({ slug, spec: { title, params, phases }, ...row }: TemplateRow): WorkflowManifest => ({
  slug,
  title,
  description: row.description,
  collection: row.collection,
  tags: row.tags,
  ...(params && { params }),
  phases,
});

const specOf = ({ collection: _collection, tags: _tags, ...rest }: WorkflowManifest): WorkflowSpec => ({
  ...rest,
  version: 1,
});

export const workflowKind = ({ templates: { readSpec }, store, actionNames }: Dependencies): Kind =>
  defineKind<WorkflowManifest>({
    kind: 'workflow',
    shape: WorkflowManifest,
    nameField: 'slug',
    defaults: { description: '', collection: null, tags: [] },
    shortened: (content) => ({ ...content, phases: listOf(content['phases']).map(shortenedPhase) }),
    async read(content) {
      const { collection, tags, ...pipeline } = content;
      const unknown = unknownIn(WorkflowManifest, content);
      const said = shaped(Metadata, { collection, tags });
      // Whether a JSON Schema holds is looked at beside the others: it may take its time.
      const checked = await readSpec({ ...pipeline, version: 1 });
      const faults = [
        ...unknown,
        ...('faults' in said ? said.faults : []),
        ...('faults' in checked ? checked.faults.map(placed).filter((one) => !isToldBy(unknown, one)) : []),
      ];
      if (faults.length > 0 || 'faults' in said || 'faults' in checked) return { faults };
      const { slug, title, description: text = '', params, phases } = checked.spec;
      return {
        manifest: { slug, title, description: text, ...said.manifest, ...(params && { params }), phases },
      };
    },
    async known(customerId, names) {
      const rows = await store.list(customerId, { include_archived: false });
      const own = rows.filter(({ customerId: owner, slug }) => owner !== null && (names?.has(slug) ?? true));
      const manifests: WorkflowManifest[] = [];
      for (const { slug } of own) {
        const row = await store.find(customerId, slug);
        if (row) manifests.push(manifestOf(row));
      }
      return manifests;
    },
    async existing(customerId, names) {
      const found = new Set<string>();
      for (const name of names) if (await store.find(customerId, name)) found.add(name);
      return found;
    },
    suggestions: async (customerId) =>
      (await store.list(customerId, { include_archived: false })).map(({ slug }) => slug),
    references,
    check: async (_customerId, manifest) =>
      stepsOf(manifest).flatMap(({ step, path }): Fault[] => [
        ...(step.kind === 'action' && !actionNames.includes(step.assignee ?? '')
          ? [
              {
                path: [...path, 'assignee'],
                message: `there is no action "${step.assignee}"; ${actionNames.join(', ')}`,
              },
            ]
          : []),
        ...(isUnequipped(step) ? [{ path, message: 'an agent step needs at least one tool or skill' }] : []),
      ]),
    prepare:
      async ({ customerId }, manifest, before) =>
      async () => {
        const { slug, title, description: text, collection, tags, params, phases } = manifest;
        const metadata = { collection, tags, description: text };
        const spoken = (one: Readonly<Record<string, unknown>>) =>
          canonical({ title: one['title'], params: one['params'], phases: one['phases'] });
        // What is said about a workflow changes in place; what it does is a new version.
        if (before && spoken(before) === spoken({ title, params, phases })) {
          await store.changeLatest(customerId, slug, metadata);
          return;
        }
        const isThere = (await store.listVersions(customerId, slug)).length > 0;
        await (isThere ? store.createNext : store.create)(customerId, specOf(manifest), metadata);
      },
    remove:
      ({ customerId }, slug) =>
      () =>
        store.archive(customerId, slug),
  });

const stepsOf = ({ phases }: WorkflowManifest) =>
  phases.flatMap((phase, phaseAt) =>
    phase.steps.map((step, stepAt) => ({ step, path: ['phases', phaseAt, 'steps', stepAt] })),
  );

const references = (manifest: WorkflowManifest): ManifestReference[] =>
  stepsOf(manifest).flatMap(({ step, path }) => [
    ...(step.kind === 'agent' && step.assignee !== undefined
      ? [{ kind: 'agent' as const, name: step.assignee, path: [...path, 'assignee'] }]
      : []),
    ...listed('tool', step.tools ?? [], [...path, 'tools']),
    ...listed('skill', step.skills ?? [], [...path, 'skills']),
  ]);

/** Turns `phases[2].steps[0]: unknown step "x"` into the place and what is wrong there. */
function placed(fault: string): Fault {
  const [, place, message] = /^([\w[\].]+): (.*)$/s.exec(fault) ?? [];
  if (place === undefined || message === undefined) return { path: [], message: fault };
  const path: Path = place
    .split(/[.[\]]+/)
    .filter(Boolean)
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  return { path, message };
}

/** A field of the file that is not known is none of the spec either, and is told once. */
const isToldBy = (unknown: readonly Fault[], { path }: Fault): boolean =>
  unknown.some((told) => told.path.join('.') === path.join('.'));

const listOf = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

const shortenedPhase = (phase: Readonly<Record<string, unknown>>) => ({
  ...phase,
  steps: listOf(phase['steps']).map(({ role, ...step }) =>
    role === (step['kind'] === 'gate' ? 'gatekeeper' : 'producer') ? step : { ...step, role },
  ),
});
