/** Makes what goes out to the world: webhooks of events, and a project's results to output destinations. */
import { createSpendingNoticeStore } from '../resources/cost/notices/store.ts';
import { createSpendingTeller, createSurgeWatch } from '../resources/cost/notices/teller.ts';
import { meteredDestinations } from '../resources/output-destinations/metered.ts';
import { createRecipientStore } from '../resources/output-destinations/store/recipients.ts';
import { createRecipients } from '../resources/output-destinations/recipients.ts';
import { createDeliver } from '../resources/output-destinations/send/delivering.ts';
import { createOutputSender } from '../resources/output-destinations/send/sender.ts';
import { createDestinationService } from '../resources/output-destinations/service.ts';
import { createDestinationStore } from '../resources/output-destinations/store/index.ts';
import { createPauseTeller } from '../resources/receivers/pauses.ts';
import { createPlaceStore } from '../resources/receivers/store.ts';
import { meteredWebhooks } from '../resources/webhook-subscriptions/metered.ts';
import { createWebhookService } from '../resources/webhook-subscriptions/service.ts';
import { signWebhook } from '../resources/webhook-subscriptions/signature.ts';
import { createWebhookStore } from '../resources/webhook-subscriptions/store/index.ts';
import type { Runtime } from '../runtime.ts';
import type { Access } from './access.ts';
import type { Inbox } from './inbox.ts';
import { deliverWithPageKeys } from './page-keys.ts';
import type { Platform } from './platform.ts';

export type Deliveries = ReturnType<typeof composeDeliveries>;

export function composeDeliveries(
  { config, log, db, temporal }: Runtime,
  { baseUrl, egress, mailer, meters, pageKeys, secretBox }: Platform,
  { members: { recordOwner }, stores: { members, workspaces } }: Access,
  { notices }: Inbox,
) {
  const pausing = { pauseAfterMs: config.WEBHOOK_PAUSE_AFTER, lookAgainMs: config.LOST_WORK_INTERVAL };
  const webhooks = meteredWebhooks(createWebhookStore(db, pausing), meters);
  const destinations = meteredDestinations(createDestinationStore(db, pausing), meters);
  const recipientStore = createRecipientStore(db);
  const recipients = createRecipients({
    store: recipientStore,
    mailer: config.SMTP_URL ? mailer : undefined,
    secret: config.SESSION_SECRET,
    baseUrl,
    mailsPerDay: config.OUTPUT_MAILS_PER_DAY,
    log,
  });
  const send = createDeliver({
    secretBox,
    recipients,
    send: createOutputSender({
      fetch: egress.fetch,
      mailer: config.SMTP_URL ? mailer : undefined,
      sign: signWebhook,
      linkTo: (projectId) => `${baseUrl}/api/v1/cp/v1/projects/${projectId}/artifacts`,
      timeoutMs: config.OUTPUT_TIMEOUT,
    }),
  });
  const deliver = deliverWithPageKeys(send, pageKeys);
  const outputs = { store: destinations, secretBox, deliver, notices, timeoutMs: config.OUTPUT_TIMEOUT };
  const spending = createSpendingNoticeStore(db);
  return {
    stores: { webhooks, destinations },
    outputs,
    destinations: createDestinationService({
      ...outputs,
      recipients,
      recipientStore,
      recordOwner,
      workspaces,
      temporal,
      egress,
      settings: config,
      log,
    }),
    webhooks: createWebhookService({ store: webhooks, workspaces, temporal, secretBox, egress, settings: config, log }),
    /** So many deliveries go to one host at once. */
    places: createPlaceStore(db, { atOnce: config.DELIVERIES_PER_HOST }),
    tellPauses: inTurn(
      createPauseTeller({
        kinds: [
          {
            what: 'webhook endpoint',
            pauses: webhooks,
            remedy: (id) =>
              `POST /v1/webhook-deliveries/endpoints/${id}/resume on the control plane switches it on again.`,
          },
          {
            what: 'output destination',
            pauses: destinations,
            remedy: (id) => `PATCH /v1/output-destinations/${id} with {"enabled": true} switches it on again.`,
          },
        ],
        ownersOf: members.listOwners,
        mailer,
        log,
      }),
      createSurgeWatch(spending),
      createSpendingTeller({
        store: spending,
        ownersOf: members.listOwners,
        async destinationsOf(customerId) {
          const rows = await destinations.list(customerId);
          return rows
            .filter(({ enabled, spending }) => enabled && spending)
            .map((row) => ({ id: row.id, send: (message) => deliver(row, message) }));
        },
        mailer,
        log,
      }),
    ),
  };
}

type Chore = (signal: AbortSignal) => Promise<void>;
const inTurn =
  (...chores: readonly Chore[]): Chore =>
  async (signal) => {
    for (const chore of chores) await chore(signal);
  };
