/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { createNote, deleteNote, getCrmCustomer, listCrmCustomers, listNotes, updateCrmCustomer } from './contract.ts';
import type { CrmService } from './service.ts';

/** The customer may know that something was noted; what it is, is the operator's own. */
const named = ({ params }: { params: { customer_id: string } }) => [{ customerId: params.customer_id, change: {} }];

export const crmRoutes = ({ crm }: { crm: CrmService }): readonly Route[] => [
  handle(listCrmCustomers, ({ query }) => crm.list(query)),
  handle(getCrmCustomer, ({ params }) => crm.get(params.customer_id)),
  handle(
    updateCrmCustomer,
    ({ caller, params, body }) => crm.setStatus(caller, params.customer_id, body.status),
    named,
  ),
  handle(listNotes, ({ params, query }) => crm.notes(params.customer_id, query)),
  handle(createNote, ({ caller, params, body }) => crm.createNote(caller, params.customer_id, body.text), named),
  handle(deleteNote, ({ params }) => crm.deleteNote(params.customer_id, params.note_id), named),
];
