/**
 * All tables, with what becomes of their rows when a workspace ends and what goes into an archive of it. What is referred to
 * comes before what refers to it: an archive is in this order, and rows go in the opposite one.
 */
import type { TenantData } from '../platform/db/tenant-data.ts';
import { agentsData } from './agents/tenant-data.ts';
import { apiKeysData } from './api-keys/tenant-data.ts';
import { attachmentsData } from './attachments/tenant-data.ts';
import { auditLogData } from './audit-log/tenant-data.ts';
import { billingData } from './billing/tenant-data.ts';
import { chatData } from './chat/tenant-data.ts';
import { costData } from './cost/tenant-data.ts';
import { crmAdminData } from './crm-admin/tenant-data.ts';
import { deployTokensData } from './deploy-tokens/tenant-data.ts';
import { discardedFilesData } from './discarded-files/tenant-data.ts';
import { eventLogData } from './event-log/tenant-data.ts';
import { eventsData } from './events/tenant-data.ts';
import { exportsData } from './exports/tenant-data.ts';
import { featureFlagsData } from './feature-flags/tenant-data.ts';
import { heartbeatsData } from './heartbeats/tenant-data.ts';
import { idempotencyKeysData } from './idempotency-keys/tenant-data.ts';
import { inboxData } from './inbox/tenant-data.ts';
import { integrationsData } from './integrations/tenant-data.ts';
import { manifestsData } from './manifests/tenant-data.ts';
import { membersData } from './members/tenant-data.ts';
import { memoryData } from './memory/tenant-data.ts';
import { miniappsData } from './miniapps/tenant-data.ts';
import { otpData } from './otp/tenant-data.ts';
import { outputDestinationsData } from './output-destinations/tenant-data.ts';
import { projectsData } from './projects/tenant-data.ts';
import { receiversData } from './receivers/tenant-data.ts';
import { runTextsData } from './run-texts/tenant-data.ts';
import { runsData } from './runs/tenant-data.ts';
import { scheduledJobsData } from './scheduled-jobs/tenant-data.ts';
import { searchData } from './search/tenant-data.ts';
import { signInData } from './sign-in/tenant-data.ts';
import { talliesData } from './tallies/tenant-data.ts';
import { templatesData } from './templates/tenant-data.ts';
import { toolsData } from './tools/tenant-data.ts';
import { webhookSubscriptionsData } from './webhook-subscriptions/tenant-data.ts';
import { workspacesData } from './workspaces/tenant-data.ts';

export const TENANT_DATA: TenantData = {
  ...agentsData,
  ...templatesData,
  ...toolsData,
  ...memoryData,
  ...chatData,
  ...scheduledJobsData,
  ...heartbeatsData,
  ...manifestsData,
  ...projectsData,
  ...eventsData,
  ...runsData,
  ...attachmentsData,
  ...miniappsData,
  ...inboxData,
  ...webhookSubscriptionsData,
  ...outputDestinationsData,
  ...costData,
  ...billingData,
  ...workspacesData,
  ...membersData,
  ...apiKeysData,
  ...deployTokensData,
  ...integrationsData,
  ...eventLogData,
  ...auditLogData,
  ...exportsData,
  ...runTextsData,
  ...crmAdminData,
  ...discardedFilesData,
  ...featureFlagsData,
  ...idempotencyKeysData,
  ...otpData,
  ...signInData,
  ...receiversData,
  ...searchData,
  ...talliesData,
};
