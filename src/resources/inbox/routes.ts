/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { ActionLinks } from './links.ts';
import type { InboxService } from './service.ts';

export const inboxRoutes = ({
  inbox,
  actionLinks,
}: {
  inbox: InboxService;
  actionLinks: ActionLinks;
}): readonly Route[] => [
  handle(contract.listWaits, ({ caller, query }) => inbox.list(caller, query)),
  handle(contract.getWait, ({ caller, params }) => inbox.get(caller, params.wait_id)),
  handle(contract.answerWait, ({ caller, params, body, claim }) =>
    inbox.answer(caller, params.wait_id, body, 'inbox', claim),
  ),
  handle(contract.remindOfWait, ({ caller, params }) => inbox.remind(caller, params.wait_id)),
  handle(contract.delegateWait, ({ caller, params, body }) => inbox.delegate(caller, params.wait_id, body)),
  handle(contract.withdrawLinks, ({ caller, params }) => actionLinks.withdraw(caller, params.wait_id)),
];
