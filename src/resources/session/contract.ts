/** The HTTP contract of the caller's own session: who is signed in, and what this person may do here. */
import { z } from 'zod';
import { RIGHT_NAMES } from '../../platform/core/rights.ts';
import { endpoint } from '../../platform/http/endpoint.ts';

const Session = z
  .object({
    actor: z.string().describe('E-mail address of who is signed in'),
    workspace_id: z.string(),
    customer_id: z.string(),
    is_archived: z.boolean().describe('The workspace may be looked at, and nothing in it changed'),
    rights: z
      .array(z.enum(RIGHT_NAMES))
      .describe('What this person may do beyond looking; without `workspace.change` nothing is changed'),
    models: z.object({
      is_offline: z
        .boolean()
        .describe('Neither the deployment nor the workspace has a model key: the offline model answers'),
    }),
    mail: z.object({
      is_logged: z.boolean().describe('No mail server is set: codes and notices are lines of the log of the service'),
    }),
    temporal: z
      .object({ ui_url: z.url(), namespace: z.string() })
      .nullable()
      .describe('Where the executions are shown; null where that is not known, or not for this workspace'),
  })
  .meta({ id: 'Session' });

export const getSession = endpoint({
  id: 'session.get',
  path: '/v1/system/session',
  summary: 'Who is signed in, and what this person may do',
  reply: Session,
});
