/** Makes the inbox: what waits for somebody outside, and the answers to it. */
import { createWaitDetailStore } from '../resources/inbox/detail-store.ts';
import { createInboxService } from '../resources/inbox/service.ts';
import { createInboxStore } from '../resources/inbox/store.ts';
import type { Runtime } from '../runtime.ts';
import type { Projects } from './projects.ts';
import type { Tools } from './tools.ts';

export const composeInbox = (
  { db }: Runtime,
  { projectCommands, stores: { projects } }: Projects,
  { miniapps }: Tools,
) => ({
  inbox: createInboxService({
    store: createInboxStore(db),
    details: createWaitDetailStore(db),
    commands: projectCommands,
    pages: miniapps,
    projects,
  }),
});
