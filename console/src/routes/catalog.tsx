/** The page `/catalog`, which shows agents, tools, skills and workflows. */
import { Agents } from '../features/catalog/agents.tsx';
import { Skills, Tools } from '../features/catalog/tools.tsx';
import { Workflows } from '../features/catalog/workflows.tsx';
import { SectionPage } from '../ui/section-page.tsx';

export const CatalogPage = () => (
  <SectionPage
    title="Catalog"
    views={[
      { tab: 'agents', label: 'Agents', view: ({ id }) => <Agents id={id} /> },
      { tab: 'workflows', label: 'Workflows', view: ({ id }) => <Workflows id={id} /> },
      { tab: 'tools', label: 'Tools', view: ({ id }) => <Tools id={id} /> },
      { tab: 'skills', label: 'Skills', view: ({ id }) => <Skills id={id} /> },
    ]}
  />
);
