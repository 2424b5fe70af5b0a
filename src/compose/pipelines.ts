/** Makes what a caller does with projects: templates, accepting projects, their events and gates; and the search, which finds them too. */
import { createEventLogStore } from '../resources/event-log/store/read.ts';
import { createEventService } from '../resources/events/service.ts';
import { createEventStore } from '../resources/events/store.ts';
import { createLiveService } from '../resources/live/service.ts';
import { ACTIONS } from '../resources/actions/builtin/index.ts';
import { createProjectOutlook } from '../resources/projects/outlook/service.ts';
import { createOutlookStore } from '../resources/projects/outlook/store.ts';
import { createProjectService } from '../resources/projects/service.ts';
import { createScribe } from '../resources/run-texts/scribe.ts';
import { createRunTextStore } from '../resources/run-texts/store.ts';
import { openSamples } from '../resources/samples/library.ts';
import { createSampleService } from '../resources/samples/service.ts';
import { createSampleStore } from '../resources/samples/store.ts';
import { createSearchService } from '../resources/search/service.ts';
import { createSearchStore } from '../resources/search/store/index.ts';
import { builtinTemplates } from '../resources/templates/builtin/index.ts';
import { createTemplateService } from '../resources/templates/service.ts';
import { createTemplateStore } from '../resources/templates/store.ts';
import { createWebhookGateService } from '../resources/webhook-gates/service.ts';
import { createWebhookGateStore } from '../resources/webhook-gates/store.ts';
import type { Runtime } from '../runtime.ts';
import type { Knowledge } from './knowledge.ts';
import type { Projects } from './projects.ts';
import type { Tools } from './tools.ts';

export type Pipelines = ReturnType<typeof composePipelines>;

export function composePipelines(
  { config, log, db, temporal }: Runtime,
  { stores: { agents, skills } }: Knowledge,
  { starter, stores: { projects } }: Projects,
  { tools }: Tools,
) {
  const events = createEventStore(db);
  const texts = createRunTextStore(db);
  const templateStore = createTemplateStore(db);
  const search = createSearchService({ store: createSearchStore(db) });
  const templates = createTemplateService({
    store: templateStore,
    agentExists: agents.isAgent,
    tools,
    skillExists: skills.existing,
    actionNames: ACTIONS.map(({ name }) => name),
  });
  const samples = createSampleService({
    open: openSamples,
    store: createSampleStore(db),
    versions: new Map(builtinTemplates.map(({ spec }) => [spec.slug, spec.version])),
  });
  return {
    stores: { templates: templateStore },
    samples,
    templates,
    search,
    events: createEventService({ store: events }),
    live: createLiveService({ store: createEventLogStore(db), texts, settings: config, log }),
    texts,
    scribe: createScribe({ store: texts, log }),
    projects: createProjectService({
      temporal,
      store: projects,
      events,
      starter,
      templates,
      search,
      isSample: samples.isSample,
      log,
    }),
    projectOutlook: createProjectOutlook({ store: createOutlookStore(db), projects }),
    webhookGates: createWebhookGateService({ store: createWebhookGateStore(db) }),
  };
}
