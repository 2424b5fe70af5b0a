/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { createNote, deleteNote, getCrmCustomer, listCrmCustomers, listNotes, updateCrmCustomer } from './contract.ts';
import type { CrmService } from './service.ts';

export const crmRoutes = ({ crm }: { crm: CrmService }): readonly Route[] => [
  handle(listCrmCustomers, ({ caller, query }) => crm.list(caller, query)),
  handle(getCrmCustomer, ({ caller, params }) => crm.get(caller, params.customer_id)),
  handle(updateCrmCustomer, ({ caller, params, body }) => crm.setStatus(caller, params.customer_id, body.status)),
  handle(listNotes, ({ caller, params, query }) => crm.notes(caller, params.customer_id, query)),
  handle(createNote, ({ caller, params, body }) => crm.createNote(caller, params.customer_id, body.text)),
  handle(deleteNote, ({ caller, params }) => crm.deleteNote(caller, params.customer_id, params.note_id)),
];
