/** Makes the inbox: what waits for somebody outside, the answers to it, and the links by which they are given. */
import { createSpendingNoticeStore } from '../resources/cost/notices/store.ts';
import { createStandingNotices } from '../resources/cost/notices/words.ts';
import { createWaitDetailStore } from '../resources/inbox/detail-store.ts';
import { createLinkStore } from '../resources/inbox/link-store.ts';
import { createActionLinks } from '../resources/inbox/links.ts';
import { createNoticeReader } from '../resources/inbox/notices.ts';
import { createInboxService } from '../resources/inbox/service.ts';
import { createInboxStore } from '../resources/inbox/store.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Platform } from './platform.ts';
import type { Projects } from './projects.ts';
import type { Runs } from './runs.ts';
import type { Tools } from './tools.ts';

export type Inbox = ReturnType<typeof composeInbox>;

export function composeInbox(
  { config, db }: Runtime,
  { baseUrl, pageKeys }: Platform,
  { audit, otp }: Access,
  { projectCommands, stores: { projects } }: Projects,
  { miniapps }: Tools,
  { lostEffects }: Runs,
) {
  const store = createInboxStore(db);
  const inbox = createInboxService({
    store,
    details: createWaitDetailStore(db),
    commands: projectCommands,
    pages: miniapps,
    effects: lostEffects,
    projects,
    spendingOf: createStandingNotices(createSpendingNoticeStore(db)),
  });
  const actionLinks = createActionLinks({
    store: createLinkStore(db),
    inbox,
    otp,
    audit: audit.trail,
    secret: config.SESSION_SECRET,
    pageKeys,
    baseUrl,
  });
  return { inbox, actionLinks, notices: createNoticeReader({ store, links: actionLinks, baseUrl }) };
}
