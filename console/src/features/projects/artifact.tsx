/** Shows the artifact of a phase: its versions, one of them in full, or the difference between two. */
import { useNavigate } from '@tanstack/react-router';
import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { post } from '../../api/client.ts';
import { ForWriters } from '../../ui/for-writers.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Content } from '../../ui/content.tsx';
import { CopyButton } from '../../ui/copy.tsx';
import { asText } from '../../ui/json.tsx';
import { notify } from '../../ui/notice.tsx';
import { SampleNote } from '../../ui/sample-mark.tsx';
import { Time } from '../../ui/time.tsx';
import { CascadeField, type Cascade } from './cascade.tsx';
import { EstimateView } from './estimate.tsx';
import { ImagesBeside, imageOf } from './image-diff.tsx';
import type { Artifact, Project } from './types.ts';
import { isEnded } from './types.ts';

const Diff = lazy(() => import('../../ui/diff.tsx').then((module) => ({ default: module.Diff })));

interface ArtifactViewProps {
  project: Project;
  /** The versions of one phase's artifact, in any order. */
  versions: readonly Artifact[];
  version: number | undefined;
  against: number | undefined;
}

export function ArtifactView({ project, versions, version, against }: ArtifactViewProps) {
  const navigate = useNavigate({ from: '/projects/$projectId' });
  const client = useQueryClient();
  const [asks, setAsks] = useState(false);
  const [cascade, setCascade] = useState<Cascade>('lazy');
  const newest = [...versions].sort((a, b) => b.version - a.version);
  const shown =
    newest.find((each) => each.version === version) ?? newest.find(({ superseded }) => !superseded) ?? newest[0];
  if (!shown) return <p className="p-3 text-soft">Nothing yet: the phase leaves its artifact when it ends.</p>;
  const other = newest.find((each) => each.version === against);
  const go = (v: number, vs?: number) =>
    void navigate({
      search: ({ phase }) => ({ ...(phase && { phase }), v, ...(vs !== undefined && { vs }) }),
      replace: true,
    });
  const label = (each: Artifact) => `v${each.version}${each.superseded ? '' : ', current'}`;
  return (
    <div className="space-y-3 p-3">
      {shown.sample && <SampleNote />}
      <div className="flex flex-wrap items-center gap-2 text-sm">
        <label className="flex items-center gap-2">
          Version
          <select className="field" value={shown.version} onChange={({ target }) => go(Number(target.value), against)}>
            {newest.map((each) => (
              <option key={each.id} value={each.version}>
                {label(each)}
              </option>
            ))}
          </select>
        </label>
        {newest.length > 1 && (
          <label className="flex items-center gap-2">
            compared with
            <select
              className="field"
              value={other?.version ?? ''}
              onChange={({ target }) => go(shown.version, Number(target.value) || undefined)}
            >
              <option value="">nothing</option>
              {newest
                .filter((each) => each !== shown)
                .map((each) => (
                  <option key={each.id} value={each.version}>
                    {label(each)}
                  </option>
                ))}
            </select>
          </label>
        )}
        <span className="tabular text-soft">
          {shown.produced_via.replaceAll('_', ' ')}, <Time at={shown.created_at} />
        </span>
        <span className="ml-auto flex items-center">
          {shown.superseded && !isEnded(project) && (
            <ForWriters>
              <Button onClick={() => setAsks(true)}>Make it current</Button>
            </ForWriters>
          )}
          <CopyButton text={asText(shown.content)} label="Copy the artifact" />
        </span>
      </div>
      {other && imageOf(other.content) && imageOf(shown.content) ? (
        <ImagesBeside
          from={{ label: `v${other.version}`, content: other.content }}
          to={{ label: `v${shown.version}`, content: shown.content }}
        />
      ) : other ? (
        <Suspense fallback={<p className="text-soft">Compares</p>}>
          <Diff
            from={asText(other.content)}
            to={asText(shown.content)}
            label={`v${other.version} to v${shown.version}`}
          />
        </Suspense>
      ) : (
        <Content content={shown.content} />
      )}
      <Confirm
        title={`Make v${shown.version} current again?`}
        action={`Make v${shown.version} current`}
        isOpen={asks}
        onClose={() => setAsks(false)}
        onConfirm={async () => {
          await post(`/v1/projects/${project.id}/phases/${shown.phase_slug}/revert-artifact`, {
            target_version: shown.version,
            cascade,
          });
          await client.invalidateQueries({ queryKey: ['projects', 'one', project.id] });
          notify(`v${shown.version} is current`);
        }}
      >
        <p>Its content becomes the newest version; the ones before it stay.</p>
        <CascadeField value={cascade} onChange={setCascade} />
        {asks && (
          <EstimateView projectId={project.id} thought={{ of: 'revert', phase_slug: shown.phase_slug, cascade }} />
        )}
      </Confirm>
    </div>
  );
}
