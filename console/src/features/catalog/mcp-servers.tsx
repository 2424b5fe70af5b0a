/** Shows the MCP servers that agents can use: their state, the tools taken from them, and those left out and why. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { McpServer } from '../../api/types.ts';
import { Facts } from '../../ui/facts.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';

export const McpServers = ({ id }: { id: string | undefined }) => (
  <Resource<McpServer>
    label="MCP servers"
    path="/v1/mcp-servers"
    selected={id}
    search={{ tab: 'mcp-servers' }}
    idOf={(row) => row.name}
    columns={[
      { name: 'Server', cell: ({ name }) => name },
      { name: 'State', cell: ({ state }) => <Status status={state} /> },
      { name: 'Whose', cell: ({ owner }) => owner },
      { name: 'Reason', cell: ({ reason }) => <span className="line-clamp-2 break-words">{reason}</span> },
      { name: 'Tools', cell: (row) => row.tools.length, isRight: true },
      { name: 'Left out', cell: (row) => row.left_out.length, isRight: true },
    ]}
    pane={(row) => ({ title: row.name, body: <Server server={row} /> })}
    empty={{
      title: 'No MCP servers',
      text: 'An MCP server gives agents its tools. An integration or the operator adds one.',
    }}
    aos="npx aos mcp"
  />
);

function Server({ server }: { server: McpServer }) {
  return (
    <>
      <Facts
        facts={[
          ['State', <Status key="state" status={server.state} />],
          ['Since', <Time key="since" at={server.since} isAbsolute />],
          ['Added by', `the ${server.owner}`],
          server.reason && ['Reason', server.reason],
        ]}
      />
      {server.tools.length > 0 && (
        <Part title="Tools">
          {server.tools.map(({ slug, description, adapted }) => (
            <li key={slug}>
              <Link
                to="/catalog"
                search={{ tab: 'tools', id: slug }}
                className="inline-flex min-h-6 items-center font-medium break-all text-accent underline"
              >
                {slug}
              </Link>
              <p className="line-clamp-3 break-words">{description}</p>
              {adapted && <p className="break-words text-warn">Models see its arguments in another form: {adapted}</p>}
            </li>
          ))}
        </Part>
      )}
      {server.left_out.length > 0 && (
        <Part title="Left out">
          {server.left_out.map(({ name, reason }, i) => (
            <li key={i} className="break-words">
              <span className="font-medium">{name || '(no name)'}</span>
              <p className="text-warn">{reason}</p>
            </li>
          ))}
        </Part>
      )}
    </>
  );
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title} className="space-y-1">
    <h3 className="font-medium">{title}</h3>
    <ul className="space-y-2 text-sm">{children}</ul>
  </section>
);
