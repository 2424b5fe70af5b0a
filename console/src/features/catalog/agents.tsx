/** Shows agents: their instructions, their tools, what they cost and how often they succeed. */
import { ForWriters } from '../../ui/for-writers.tsx';
import { Link } from '@tanstack/react-router';
import { del } from '../../api/client.ts';
import type { AgentDetail, AgentListRow } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Avatar } from './avatar.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Change } from '../../ui/change.tsx';
import { Facts } from '../../ui/facts.tsx';
import { count } from '../../ui/figures.ts';
import { Value } from '../../ui/json.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Money } from '../../ui/money.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Status } from '../../ui/status.tsx';

export const Agents = ({ id }: { id: string | undefined }) => (
  <Resource<AgentListRow>
    label="Agents"
    path="/v1/agents"
    selected={id}
    idOf={(row) => row.slug}
    columns={[
      { name: 'Agent', cell: ({ slug }) => slug },
      { name: 'For', cell: ({ description }) => description },
      { name: 'Model', cell: ({ model }) => model },
      { name: 'Tools', cell: (row) => row.allowed_tools_count, isRight: true },
      { name: 'Whose', cell: (row) => (row.is_builtin ? 'built-in' : 'custom') },
    ]}
    pane={(row) => ({
      title: row.slug,
      body: <Loaded<AgentDetail> path={`/v1/agents/${row.slug}/detail`}>{(agent) => <Agent agent={agent} />}</Loaded>,
    })}
    making={{ label: 'New agent', schema: 'NewAgent' }}
    empty={{ title: 'No agents', text: 'An agent is a prompt, a model and tools.' }}
  />
);

function Agent({ agent }: { agent: AgentDetail }) {
  const path = `/v1/agents/${agent.slug}`;
  const { recent_runs: runs } = agent;
  return (
    <>
      <p>{agent.description}</p>
      <Avatar agent={agent} />
      <div className="flex flex-wrap gap-2">
        <ForWriters>
          <Link to="/runs/new" search={{ agent: agent.slug }} className={buttonClass('primary')}>
            Run it
          </Link>
        </ForWriters>
        <Change
          label="Set the model"
          title={`The model of ${agent.slug}`}
          schema="AgentModelChange"
          path={`${path}/model`}
          before={agent}
          done="Set"
        />
        <Change
          label="Set the voice"
          title={`The voice of ${agent.slug}`}
          schema="AgentVoiceChange"
          path={`${path}/voice`}
          before={agent}
          done="Set"
        />
        {!agent.is_builtin && (
          <Change
            label="Change"
            title={`Change ${agent.slug}`}
            schema="AgentChange"
            path={path}
            before={{ ...agent, allowed_tool_slugs: agent.allowed_tools }}
            done="Changed"
          />
        )}
      </div>
      <Acts
        acts={[
          {
            label: 'Delete',
            isHidden: agent.is_builtin,
            asks: { title: `Delete ${agent.slug}?`, text: 'Its runs keep naming it.' },
            done: 'Deleted',
            act: () => del(path),
            insist: () => del(`${path}?force=true`),
          },
        ]}
      />
      <Facts
        facts={[
          ['Model', agent.model],
          ['Chosen', agent.selection_mode ?? 'fixed'],
          agent.effort && ['Effort', agent.effort],
          agent.max_output_tokens !== null && ['Output limit', `${count(agent.max_output_tokens)} tokens`],
          agent.fallback_models.length > 0 && ['Falls back to', agent.fallback_models.join(', ')],
          ['Memory', agent.memory_mode],
          agent.voice && ['Voice', agent.voice],
          ['Tools', agent.allowed_tools.join(', ') || 'none'],
          [
            'Runs',
            `${count(runs.total)}, of which ${count(runs.succeeded)} succeeded and ${count(runs.failed)} failed`,
          ],
          ['Spent', <Money key="spent" usd={runs.cost_usd} />],
        ]}
      />
      <ul aria-label="Latest runs" className="space-y-1 text-sm">
        {runs.last.map((run) => (
          <li key={run.run_id}>
            <Link
              to="/runs/$runId"
              params={{ runId: run.run_id }}
              className="flex min-h-7 items-center gap-2 hover:underline"
            >
              <Status status={run.last_status ?? 'running'} />
              <span className="truncate font-mono text-xs">{run.run_id}</span>
            </Link>
          </li>
        ))}
      </ul>
      {agent.prompt && <Value value={agent.prompt} label="the prompt" />}
    </>
  );
}
