/** Shows how entries of the memory link to each other. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { MemoryGraph } from '../../api/types.ts';
import { count, plural } from '../../ui/figures.ts';
import { Empty } from '../../ui/empty.tsx';
import { Graph, nodeClass } from '../../ui/graph.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { nameOf } from './name.ts';

type Node = MemoryGraph['nodes'][number];

const keyOf = ({ id }: Node): string => String(id);

export const MemoryGraphView = () => (
  <Loaded<MemoryGraph> path="/v1/memory/graph">{(graph) => <Drawn graph={graph} />}</Loaded>
);

function Drawn({ graph: { nodes, edges, meta } }: { graph: MemoryGraph }) {
  const lines = useMemo(
    () => edges.map(({ source, target }) => ({ from: String(source), to: String(target) })),
    [edges],
  );
  const linked = useMemo(() => {
    const ends = new Set(lines.flatMap(({ from, to }) => [from, to]));
    return nodes.filter((node) => ends.has(keyOf(node)));
  }, [nodes, lines]);
  if (linked.length === 0) {
    return (
      <Empty title="No entry links to another">
        An entry links to another one by its slug in double brackets: [[no-friday-releases]].
      </Empty>
    );
  }
  return (
    <>
      <p className="px-4 py-2 text-sm text-soft">
        {plural(linked.length, 'entry', 'entries')} with {plural(meta.edge_count, 'link')};{' '}
        {count(nodes.length - linked.length)} link to nothing and are not drawn
        {meta.truncated && ', and older ones are left out'}.
      </p>
      <Graph label="Links between entries" nodes={linked} keyOf={keyOf} edges={lines}>
        {(node) => (
          <Link to="/memory" search={{ id: String(node.id) }} className={nodeClass(false)}>
            <span className="truncate font-medium">{nameOf(node)}</span>
            <span className="truncate text-xs text-soft">
              {node.type}
              {node.status !== 'active' && `, ${node.status}`}
              {node.agent && `, ${node.agent}`}
            </span>
          </Link>
        )}
      </Graph>
    </>
  );
}
