/** What becomes of these tables when their workspace ends, and what of them goes into an archive of it. */
import { sql } from 'drizzle-orm';
import { SECRET, SAME_TENANT, rowsOfParent, type TenantData } from '../../platform/db/tenant-data.ts';

export const outputDestinationsData: TenantData = {
  output_destinations: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'id name kind config workflow_slugs enabled artifacts waits spending failing_since paused_at pause_told_at created_at updated_at',
      without: { ...SAME_TENANT, sealed: SECRET },
    },
    secrets: (customerId) => sql`
      select 'output_destination' as kind, name, null as field from output_destinations
      where customer_id = ${customerId} and sealed is not null`,
  },
  output_recipients: {
    end: { goesWith: 'output_destinations' },
    archive: {
      columns: 'id destination_id email answer answered_at asked_at created_at',
      without: {},
      from: rowsOfParent('output_destinations', 'output_recipients', sql`t.destination_id = p.id`),
    },
  },
  output_deliveries: {
    end: { goes: 'before made again' },
    archive: {
      columns:
        'id destination_id project_id artifact_id wait_id notice nth revision recipient status attempts redeliveries last_error withheld_from due_at created_at completed_at',
      without: SAME_TENANT,
    },
  },
  output_mail_counts: {
    end: { stays: 'what may be mailed in a day is not had twice by making a workspace again' },
    archive: { left: 'what may be mailed in a day' },
  },
};
