/**
 * Adds keys to addresses of pages where texts leave for the world: texts of the service have none
 * (`platform/core/page-keys.ts`), and who gets such an address from an agent is to answer the page.
 */
import type { ProjectEngine } from '../resources/projects/engine/index.ts';
import type { PageKeys } from '../platform/core/page-keys.ts';
import type { Deliver } from '../resources/output-destinations/send/delivering.ts';
import type { Tool } from '../resources/tools/model.ts';
import type { ToolRegistry } from '../resources/tools/registry.ts';
import type { WebhookStore } from '../resources/webhook-subscriptions/store/index.ts';

/** Built-in tools keep what they are given in the service, but for those that send requests. */
const reachesOut = ({ module }: Tool): boolean =>
  !module.startsWith('app.tools.') || module.startsWith('app.tools.web.');

export const toolsWithPageKeys = (registry: ToolRegistry, pageKeys: PageKeys): ToolRegistry => ({
  ...registry,
  async get(customerId, slug) {
    const tool = await registry.get(customerId, slug);
    if (!tool || !reachesOut(tool)) return tool;
    return { ...tool, execute: (args, context) => tool.execute(pageKeys.addIn(customerId, args), context) };
  },
});

export const deliverWithPageKeys =
  (deliver: Deliver, pageKeys: PageKeys): Deliver =>
  (destination, message, sending) =>
    deliver(destination, pageKeys.addIn(destination.customerId, message), sending);

export const webhooksWithPageKeys = (store: WebhookStore, pageKeys: PageKeys): WebhookStore => ({
  ...store,
  async startAttempt(ref) {
    const attempt = await store.startAttempt(ref);
    return attempt && { ...attempt, body: pageKeys.addTo(attempt.customerId, attempt.body) };
  },
});

/** Actions may post what they are given; what they answer is stored, and loses the keys there. */
export const actionsWithPageKeys = (engine: ProjectEngine, pageKeys: PageKeys): ProjectEngine => ({
  ...engine,
  async loadActionContext(ref) {
    const work = await engine.loadActionContext(ref);
    return work && pageKeys.addIn(work.customerId, work);
  },
});
