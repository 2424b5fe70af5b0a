/** The page `/catalog`, which shows agents, workflows, tools, MCP servers and skills. */
import { Agents } from '../features/catalog/agents.tsx';
import { McpServers } from '../features/catalog/mcp-servers.tsx';
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
      { tab: 'mcp-servers', label: 'MCP servers', view: ({ id }) => <McpServers id={id} /> },
      { tab: 'skills', label: 'Skills', view: ({ id }) => <Skills id={id} /> },
    ]}
  />
);
