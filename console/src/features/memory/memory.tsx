/**
 * Shows the memory of the workspace: entries are found by meaning, shown with their links, checked, replaced and
 * archived.
 */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { addressOf, del, get, patch, post } from '../../api/client.ts';
import type { MemoryEntry, MemoryEntryListRow, MemoryLinksResponse, MemoryStatsResponse } from '../../api/types.ts';
import { Acts } from '../../ui/acts.tsx';
import { Button } from '../../ui/button.tsx';
import { Change } from '../../ui/change.tsx';
import { Content } from '../../ui/content.tsx';
import { Facts } from '../../ui/facts.tsx';
import { count, plural } from '../../ui/figures.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Resource, resourceKey } from '../../ui/resource.tsx';
import type { SectionSearch } from '../../ui/section-search.ts';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { nameOf } from './name.ts';

const PATH = '/v1/memory/entries';

export function Memory({ id, q }: SectionSearch) {
  const navigate = useNavigate();
  const [text, setText] = useState(q ?? '');
  const search = q ? { q } : {};
  const path = addressOf(PATH, { q, limit: 100 });
  return (
    <Resource<MemoryEntryListRow>
      label="Memory"
      path={path}
      selected={id}
      search={search}
      idOf={(row) => String(row.id)}
      columns={[
        { name: 'Entry', cell: nameOf },
        { name: 'What it says', cell: ({ preview }) => <span className="line-clamp-2">{preview}</span> },
        { name: 'Type', cell: ({ type }) => type },
        { name: 'State', cell: (row) => <Status status={stateOf(row)} /> },
        ...(q
          ? [
              {
                name: 'Closeness',
                cell: ({ score }: MemoryEntryListRow) => (score === null ? '' : `${Math.round(100 * score)} %`),
                isRight: true,
              },
            ]
          : [{ name: 'Changed', cell: (row: MemoryEntryListRow) => <Time at={row.updated_at} />, isRight: true }]),
      ]}
      pane={(row) => ({
        title: nameOf(row),
        body: (
          <Loaded<MemoryEntry> path={`${PATH}/${row.id}`}>{(entry) => <Entry entry={entry} search={search} />}</Loaded>
        ),
      })}
      making={{ label: 'New entry', schema: 'NewMemoryEntry', path: PATH }}
      empty={
        q
          ? { title: 'Nothing is close to that', text: `Looked for ${q}.` }
          : {
              title: 'Nothing is known yet',
              text: 'What is kept here is recalled into runs that it matters to.',
              aos: 'npx aos memory create "We never ship on Fridays." --type fact --slug no-friday-releases',
            }
      }
      aos={q ? `npx aos memory search "${q}"` : 'npx aos memory'}
    >
      <form
        role="search"
        className="flex min-w-0 flex-1 gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          void navigate({ to: '/memory', search: (text.trim() ? { q: text.trim() } : {}) as never });
        }}
      >
        <input
          data-search
          type="search"
          aria-label="Search by meaning"
          placeholder="A question; what is closest to it in meaning comes first"
          className="field min-w-0 flex-1"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <Button type="submit">Search</Button>
      </form>
      <Clear path={path} />
      <Unreadable />
    </Resource>
  );
}

const stateOf = ({ status, has_embedding: isReadable }: MemoryEntryListRow): string =>
  status !== 'active' ? status : isReadable ? 'ok' : 'unreadable';

const UNREADABLE = 'the embedding model has no tokens for the script: found by words, never recalled';

/** Says how many entries the embedding model of the deployment cannot read. */
function Unreadable() {
  const { data } = useQuery({
    queryKey: resourceKey('/v1/memory/stats'),
    queryFn: ({ signal }) => get<MemoryStatsResponse>('/v1/memory/stats', undefined, signal),
    staleTime: 60_000,
  });
  if (!data?.unreadable) return null;
  const what = plural(data.unreadable, 'entry is', 'entries are');
  return (
    <p className="w-full text-sm text-warn">
      {what} not recalled into runs: {UNREADABLE}. An operator can set <code>EMBEDDING_PROVIDER=multilingual</code>.
    </p>
  );
}

/** Deletes what is archived of what is listed, all of it at once. */
function Clear({ path }: { path: string }) {
  const { data } = useQuery({
    queryKey: resourceKey(path),
    queryFn: ({ signal }) => get<{ data: MemoryEntryListRow[] }>(path, undefined, signal),
    staleTime: 1_000,
  });
  const ids = data?.data.filter(({ status }) => status === 'archived').map(({ id }) => id) ?? [];
  if (ids.length === 0) return null;
  const what = plural(ids.length, 'archived entry', 'archived entries');
  return (
    <Acts
      acts={[
        {
          label: `Delete ${what}`,
          asks: { title: `Delete ${what} for good?`, text: 'All of them or none. Links to them become unresolved.' },
          done: 'Deleted',
          act: () => post(`${PATH}/bulk-delete`, { ids }),
        },
      ]}
    />
  );
}

function Entry({ entry, search }: { entry: MemoryEntry; search: Record<string, unknown> }) {
  const path = `${PATH}/${entry.id}`;
  return (
    <>
      <Content content={entry.content} />
      <Facts
        facts={[
          ['State', entry.status],
          !entry.has_embedding && ['Not recalled', UNREADABLE],
          ['Type', entry.type],
          entry.slug && ['Slug', entry.slug],
          ['Whose', entry.agent ?? 'everybody’s'],
          ['In every run', entry.always_load ? 'yes' : 'no'],
          entry.source_attribution && ['Source', entry.source_attribution],
          ['Recalled', `${count(entry.hit_count)} times, of ${count(entry.impression_count)} that it was considered`],
          ['Checked', entry.last_verified_at ? <Time key="at" at={entry.last_verified_at} /> : 'never'],
        ]}
      />
      <div className="flex flex-wrap gap-2">
        <Change
          label="Change"
          title="Change the entry"
          schema="MemoryEntryChange"
          path={path}
          before={entry}
          done="Changed"
        />
        {entry.status === 'active' && (
          <Change
            label="Replace"
            title="A new entry in the place of this one"
            schema="MemorySuccessor"
            path={`${path}/supersede`}
            method="POST"
            done="Replaced"
          />
        )}
      </div>
      <Acts
        acts={[
          { label: 'It still holds', icon: 'check', done: 'Noted', act: () => post(`${path}/verify`) },
          {
            label: entry.status === 'archived' ? 'Bring back' : 'Archive',
            isHidden: entry.status === 'superseded',
            done: entry.status === 'archived' ? 'Brought back' : 'Archived',
            act: () => patch(path, { status: entry.status === 'archived' ? 'active' : 'archived' }),
          },
          {
            label: 'Delete',
            asks: { title: 'Delete this entry for good?', text: 'Links to it become unresolved.' },
            done: 'Deleted',
            act: () => del(path),
          },
        ]}
      />
      <Loaded<MemoryLinksResponse> path={`${path}/links`}>
        {({ outgoing, incoming }) => (
          <>
            <Links title="Links to" links={outgoing} search={search} />
            <Links title="Linked from" links={incoming} search={search} />
          </>
        )}
      </Loaded>
    </>
  );
}

interface LinksProps {
  title: string;
  links: MemoryLinksResponse['outgoing'];
  search: Record<string, unknown>;
}

function Links({ title, links, search }: LinksProps) {
  if (links.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="font-medium">{title}</h3>
      <ul className="text-sm">
        {links.map(({ edge_type: type, other, dst_slug: slug }, i) => (
          <li key={i} className="flex min-h-7 items-center gap-2">
            <span className="text-soft">{type.replaceAll('_', ' ')}</span>
            {other ? (
              <Link
                to="/memory"
                search={{ ...search, id: String(other.id) } as never}
                className="text-accent underline"
              >
                {nameOf(other)}
              </Link>
            ) : (
              <span>{slug} (there is no such entry yet)</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
