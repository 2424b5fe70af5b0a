/**
 * Manifests of webhooks, which are known by their addresses. The secret that signs is the service's own to make: a file may
 * name another one by a variable, and where it says nothing the secret stays what it is.
 */
import { z } from 'zod';
import { httpOrigin } from '../../../platform/core/http-origin.ts';
import { present } from '../../../platform/core/present.ts';
import { NewWebhook } from '../../webhook-subscriptions/contract.ts';
import { isSubscribable, WEBHOOK_EVENTS } from '../../webhook-subscriptions/model.ts';
import type { WebhookService } from '../../webhook-subscriptions/service.ts';
import { nearest } from '../../../platform/core/nearest.ts';
import { defineKind, findingIn, shaped, type Kind } from '../kind.ts';

const of = NewWebhook.shape;
const Secret = z.string().min(16).max(200).describe('What signs; without one it is made, or stays');
const WebhookManifest = z
  .strictObject({
    url: of.url,
    events: of.events,
    description: of.description.transform((text) => text ?? null).default(null),
    secret: Secret.optional(),
  })
  .meta({ title: 'A webhook' });
type WebhookManifest = z.output<typeof WebhookManifest>;

type Dependencies = Pick<WebhookService, 'listWithSecrets' | 'addressFault' | 'insert' | 'change' | 'drop'>;

export function webhookKind(webhooks: Dependencies): Kind {
  const { byName, named } = findingIn({
    list: webhooks.listWithSecrets,
    nameOf: ({ url }) => url,
    manifestOf: ({ url, events, description, secret }): WebhookManifest => ({ url, events, description, secret }),
  });
  return defineKind<WebhookManifest>({
    kind: 'webhook',
    nameField: 'url',
    secrets: {
      isPlace: (path) => path.join() === 'secret',
      isSecret: () => true,
      receiverOf: ({ url }) => httpOrigin(url),
      schemas: new Set([Secret]),
      kept: ['secret'],
    },
    shape: WebhookManifest,
    read: async (content) => shaped(WebhookManifest, content),
    defaults: { events: ['*'], description: null },
    ...byName,
    references: () => [],
    async check(customerId, { url, events }) {
      const fault = webhooks.addressFault(url);
      const count = (await named(customerId, url)).length;
      return [
        ...(fault ? [{ path: ['url'], message: fault }] : []),
        ...(count > 1 ? [{ path: ['url'], message: `${count} webhooks have this address: delete all but one` }] : []),
        ...events.flatMap((name, place) => {
          if (isSubscribable(name)) return [];
          const near = nearest(name, WEBHOOK_EVENTS);
          const message = near
            ? `no such event; did you mean "${near}"?`
            : `no such event: ${WEBHOOK_EVENTS.join(', ')}`;
          return [{ path: ['events', place], message }];
        }),
      ];
    },
    prepare:
      async ({ customerId }, manifest) =>
      async () => {
        const [before] = await named(customerId, manifest.url);
        if (before) await webhooks.change(customerId, before.id, manifest);
        else await webhooks.insert(customerId, manifest);
      },
    remove:
      ({ customerId }, url) =>
      async () => {
        const [row] = await named(customerId, url);
        await webhooks.drop(customerId, present(row, `the webhook ${url}`).id);
      },
  });
}
