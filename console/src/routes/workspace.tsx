/** The page `/workspace`, which shows members, API keys, integrations, billing, flags and the audit log. */
import { AuditLog, Flags } from '../features/workspace/audit.tsx';
import { Billing } from '../features/workspace/billing.tsx';
import { Integrations } from '../features/workspace/integrations.tsx';
import { Keys } from '../features/workspace/keys.tsx';
import { Members } from '../features/workspace/members.tsx';
import { SectionPage } from '../ui/section-page.tsx';

export const WorkspacePage = () => (
  <SectionPage
    title="Workspace"
    views={[
      { tab: 'members', label: 'Members', view: ({ id }) => <Members id={id} /> },
      { tab: 'keys', label: 'API keys', view: ({ id }) => <Keys id={id} /> },
      { tab: 'integrations', label: 'Integrations', view: ({ id }) => <Integrations id={id} /> },
      { tab: 'billing', label: 'Billing', view: () => <Billing /> },
      { tab: 'flags', label: 'Flags', view: ({ id }) => <Flags id={id} /> },
      { tab: 'audit', label: 'Audit log', view: ({ id }) => <AuditLog id={id} /> },
    ]}
  />
);
