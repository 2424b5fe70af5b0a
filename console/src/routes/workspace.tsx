/** The page `/workspace`, which shows who may do what in the workspace, what it is set to, and what has been changed. */
import { useSession } from '../api/session.ts';
import { AuditLog, Flags } from '../features/workspace/audit.tsx';
import { Billing } from '../features/workspace/billing.tsx';
import { Customers } from '../features/workspace/customers.tsx';
import { Exports, mayExport } from '../features/workspace/exports.tsx';
import { DeployTokens, FromFiles } from '../features/workspace/files.tsx';
import { Integrations } from '../features/workspace/integrations.tsx';
import { Keys } from '../features/workspace/keys.tsx';
import { Members } from '../features/workspace/members.tsx';
import { Workspaces } from '../features/workspace/workspaces.tsx';
import { SectionPage } from '../ui/section-page.tsx';
import type { SectionSearch } from '../ui/section-search.ts';

export function WorkspacePage() {
  const { rights } = useSession();
  const isOperator = rights.includes('customers.annotate');
  return (
    <SectionPage
      title="Workspace"
      views={[
        { tab: 'members', label: 'Members', view: ({ id }) => <Members id={id} /> },
        { tab: 'keys', label: 'API keys', view: ({ id }) => <Keys id={id} /> },
        ...(rights.includes('deploy-tokens.manage')
          ? [{ tab: 'tokens', label: 'Deploy tokens', view: ({ id }: SectionSearch) => <DeployTokens id={id} /> }]
          : []),
        { tab: 'files', label: 'From files', view: ({ id }) => <FromFiles id={id} /> },
        { tab: 'integrations', label: 'Integrations', view: ({ id }) => <Integrations id={id} /> },
        { tab: 'billing', label: 'Billing', view: () => <Billing /> },
        { tab: 'flags', label: 'Flags', view: ({ id }) => <Flags id={id} /> },
        { tab: 'audit', label: 'Audit log', view: ({ id }) => <AuditLog id={id} /> },
        ...(mayExport(rights)
          ? [{ tab: 'exports', label: 'Exports', view: ({ id }: SectionSearch) => <Exports id={id} /> }]
          : []),
        { tab: 'workspaces', label: isOperator ? 'Workspaces' : 'About', view: ({ id }) => <Workspaces id={id} /> },
        ...(isOperator
          ? [{ tab: 'customers', label: 'Customers', view: ({ id }: SectionSearch) => <Customers id={id} /> }]
          : []),
      ]}
    />
  );
}
