/**
 * The HTTP contract of what the operator notes about customers. It is for admins of the workspace that operates the
 * deployment.
 */
import { z } from 'zod';
import { endpoint, NO_CONTENT } from '../../platform/http/endpoint.ts';
import { limit, offset, pageReply, Timestamp } from '../../platform/http/schemas.ts';
import { PLANS, WORKSPACE_STATUSES } from '../workspaces/model.ts';
import { CRM_STATUSES } from './model.ts';

const CustomerPath = z.object({ customer_id: z.string().max(200) });

const Note = z
  .object({
    id: z.uuid(),
    customer_id: z.string(),
    author: z.string(),
    text: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'CrmNote' });

const CrmCustomer = z
  .object({
    customer_id: z.string(),
    identity_workspace_id: z.string(),
    plan: z.enum(PLANS),
    workspace_status: z.enum(WORKSPACE_STATUSES),
    status: z.enum(CRM_STATUSES).nullable().describe('Null until somebody sets it'),
    updated_by: z.string().nullable(),
    updated_at: Timestamp.nullable(),
    note_count: z.int(),
    last_note: Note.nullable(),
    created_at: Timestamp.describe('Of the workspace'),
  })
  .meta({ id: 'CrmCustomer' });

/** The stamp alone only says that somebody is an admin of some workspace. */
const OPERATOR = { credential: 'admin', right: 'customers.annotate' } as const;

const page = { limit: limit(500, 50), offset };
export const listCrmCustomers = endpoint({
  id: 'crm-admin.list',
  path: '/v1/crm-admin/customers',
  ...OPERATOR,
  summary: 'Customers with their status and last note, newest workspace first',
  query: z.object({ status: z.enum(CRM_STATUSES).optional(), q: z.string().max(200).optional(), ...page }),
  reply: pageReply(CrmCustomer),
  problems: ['internal_only'],
});

export const getCrmCustomer = endpoint({
  id: 'crm-admin.get',
  path: '/v1/crm-admin/customers/{customer_id}',
  ...OPERATOR,
  summary: 'One customer with its status and last note',
  params: CustomerPath,
  reply: CrmCustomer,
  problems: ['internal_only', 'not_found'],
});

export const updateCrmCustomer = endpoint({
  id: 'crm-admin.update',
  method: 'patch',
  path: '/v1/crm-admin/customers/{customer_id}',
  ...OPERATOR,
  summary: 'Set the status of a customer',
  params: CustomerPath,
  body: z.strictObject({ status: z.enum(CRM_STATUSES) }).meta({ id: 'CrmCustomerChange' }),
  reply: CrmCustomer,
  problems: ['internal_only', 'not_found'],
});

export const listNotes = endpoint({
  id: 'crm-admin.notes',
  path: '/v1/crm-admin/customers/{customer_id}/notes',
  ...OPERATOR,
  summary: 'Notes on a customer, newest first',
  params: CustomerPath,
  query: z.object(page),
  reply: pageReply(Note),
  problems: ['internal_only', 'not_found'],
});

export const createNote = endpoint({
  id: 'crm-admin.createNote',
  path: '/v1/crm-admin/customers/{customer_id}/notes',
  ...OPERATOR,
  summary: 'Note something about a customer',
  params: CustomerPath,
  body: z.object({ text: z.string().trim().min(1).max(10_000) }).meta({ id: 'NewCrmNote' }),
  status: 201,
  reply: Note,
  problems: ['internal_only', 'not_found'],
});

export const deleteNote = endpoint({
  id: 'crm-admin.deleteNote',
  method: 'delete',
  path: '/v1/crm-admin/customers/{customer_id}/notes/{note_id}',
  ...OPERATOR,
  summary: 'Delete a note',
  params: CustomerPath.extend({ note_id: z.string() }),
  reply: NO_CONTENT,
  problems: ['internal_only', 'not_found'],
});
