/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { downloadFile, listAttachments, prepareAttachments, uploadAttachments } from './contract.ts';
import type { AttachmentService } from './service.ts';

export const attachmentRoutes = ({ attachments }: { attachments: AttachmentService }): readonly Route[] => [
  handle(listAttachments, ({ caller, params }) => attachments.list(caller.customerId, params.project_id)),
  handle(uploadAttachments, ({ caller, params, receiveFiles }) =>
    attachments.upload(caller.customerId, params.project_id, receiveFiles),
  ),
  handle(prepareAttachments, ({ caller, receiveFiles }) => attachments.prepare(caller.customerId, receiveFiles)),
  handle(downloadFile, ({ caller, query }) => attachments.download(caller.customerId, query.id)),
];
