/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { ChatService } from './service.ts';

export const chatRoutes = ({ chat }: { chat: ChatService }): readonly Route[] => [
  handle(contract.listThreads, ({ caller, query }) => chat.list(caller, query)),
  handle(contract.createThread, ({ caller, body }) => chat.create(caller, body)),
  handle(contract.getThread, ({ caller, params }) => chat.get(caller, params.id)),
  handle(contract.updateThread, ({ caller, params, body }) => chat.update(caller, params.id, body)),
  handle(contract.deleteThread, ({ caller, params }) => chat.remove(caller, params.id)),
  handle(contract.listMessages, ({ caller, params, query }) => chat.listMessages(caller, params.id, query)),
  handle(contract.sendMessage, ({ caller, params, body }) => chat.send(caller, params.id, body)),
  handle(contract.listThreadAttachments, ({ caller, params }) => chat.listAttachments(caller, params.id)),
  handle(contract.uploadThreadAttachments, ({ caller, params, receiveFiles }) =>
    chat.uploadAttachments(caller, params.id, receiveFiles),
  ),
  handle(contract.turnCredentials, ({ caller }) => chat.turn(caller)),
];
