/** Shows the tools that agents can use, and the skills that they can read. */
import { Link } from '@tanstack/react-router';
import { del } from '../../api/client.ts';
import type { Skill, SkillListRow, Tool, ToolListRow } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Change } from '../../ui/change.tsx';
import { Content } from '../../ui/content.tsx';
import { Facts } from '../../ui/facts.tsx';
import { count } from '../../ui/figures.ts';
import { Value } from '../../ui/json.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Resource } from '../../ui/resource.tsx';
import { Time } from '../../ui/time.tsx';

export const Tools = ({ id }: { id: string | undefined }) => (
  <Resource<ToolListRow>
    label="Tools"
    path="/v1/tools"
    selected={id}
    search={{ tab: 'tools' }}
    idOf={(row) => row.slug}
    columns={[
      { name: 'Tool', cell: ({ slug }) => slug },
      { name: 'What it does', cell: ({ description }) => <span className="line-clamp-2">{description}</span> },
      { name: 'Kind', cell: ({ kind, category }) => kind ?? category },
      { name: 'Arguments', cell: ({ param_names: names }) => names.join(', ') },
    ]}
    pane={(row) => ({
      title: row.slug,
      body: <Loaded<Tool> path={`/v1/tools/${row.slug}`}>{(tool) => <ToolView tool={tool} />}</Loaded>,
    })}
    making={{
      label: 'New tool',
      schema: 'NewTool',
      start: { schema: '{\n  "type": "object",\n  "properties": {}\n}' },
    }}
    empty={{ title: 'No tools', text: 'A tool is something an agent can do.' }}
    aos="npx aos tools list"
  />
);

function ToolView({ tool }: { tool: Tool }) {
  const path = `/v1/tools/${tool.slug}`;
  return (
    <>
      <Content content={tool.description} />
      {!tool.is_builtin && tool.kind && (
        <>
          <Change
            label="Change"
            title={`Change ${tool.slug}`}
            schema="ToolChange"
            path={path}
            before={tool}
            done="Changed"
          />
          <Acts
            acts={[
              {
                label: 'Delete',
                asks: { title: `Delete ${tool.slug}?`, text: 'Agents have it no more.' },
                done: 'Deleted',
                act: () => del(path),
                insist: () => del(`${path}?force=true`),
              },
            ]}
          />
        </>
      )}
      <Facts
        facts={[
          ['Defined in', tool.module],
          tool.unavailable && ['Not offered', tool.unavailable],
          tool.adapted && ['Told in another form', tool.adapted],
          tool.effect && ['Repeated when lost', tool.effect],
          tool.integration && ['Integration', tool.integration],
          ['Skills that declare it', count(tool.used_by)],
        ]}
      />
      <Value value={tool.params_schema} label="the arguments" />
      {tool.body && <Value value={tool.body} label="the body" />}
      <h3 className="font-medium">Latest calls</h3>
      {tool.recent_invocations.length === 0 && <p className="text-sm text-soft">It was not called yet.</p>}
      <ul className="space-y-1 text-sm">
        {tool.recent_invocations.map((call) => (
          <li key={call.id}>
            <Link
              to="/runs/$runId"
              params={{ runId: call.run_id }}
              search={{ tab: 'timeline' }}
              className="flex min-h-7 flex-wrap gap-2 hover:underline"
            >
              <Time at={call.ts} className="tabular text-soft" /> {call.agent}
              <code className="min-w-0 truncate">{call.params_preview}</code>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

export const Skills = ({ id }: { id: string | undefined }) => (
  <Resource<SkillListRow>
    label="Skills"
    path="/v1/skills"
    selected={id}
    search={{ tab: 'skills' }}
    idOf={(row) => row.slug}
    columns={[
      { name: 'Skill', cell: ({ title }) => title },
      { name: 'For', cell: ({ description }) => <span className="line-clamp-2">{description}</span> },
      { name: 'Category', cell: ({ category }) => category },
      { name: 'Used by', cell: (row) => row.used_by, isRight: true },
    ]}
    pane={(row) => ({
      title: row.title,
      body: (
        <Loaded<Skill> path={`/v1/skills/${encodeURIComponent(row.slug)}`}>
          {(skill) => (
            <>
              <Facts
                facts={[
                  ['Slug', skill.slug],
                  ['For agents', skill.agents.join(', ') || 'all'],
                  ['In every run', skill.always_load ? 'yes' : 'no'],
                ]}
              />
              {!skill.is_builtin && (
                <>
                  <Change
                    label="Change"
                    title={`Change ${skill.title}`}
                    schema="SkillChange"
                    path={`/v1/skills/${encodeURIComponent(skill.slug)}`}
                    before={{ ...skill, name: skill.title, prompt_addendum: skill.body }}
                    without={['agent']}
                    done="Changed"
                  />
                  <Acts
                    acts={[
                      {
                        label: 'Delete',
                        asks: {
                          title: `Delete ${skill.title}?`,
                          text: 'Agents cannot load it any more; runs that hold it go on.',
                        },
                        done: 'Deleted',
                        act: () => del(`/v1/skills/${encodeURIComponent(skill.slug)}`),
                        insist: () => del(`/v1/skills/${encodeURIComponent(skill.slug)}?force=true`),
                      },
                    ]}
                  />
                </>
              )}
              <Content content={skill.body} />
            </>
          )}
        </Loaded>
      ),
    })}
    making={{ label: 'New skill', schema: 'NewSkill' }}
    empty={{
      title: 'No skills',
      text: 'A skill says how work of a kind is done.',
      aos: 'npx aos skills create house-style "House style" --file house-style.md',
    }}
    aos="npx aos skills list"
  />
);
