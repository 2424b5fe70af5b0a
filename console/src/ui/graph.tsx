/** Shows nodes as an ordered list, which wide windows draw as a graph. */
import { useMemo, type CSSProperties, type ReactNode } from 'react';
import { drawingOf, NODE, type Edge } from './drawing.ts';

interface GraphProps<T> {
  label: string;
  nodes: readonly T[];
  keyOf: (node: T) => string;
  edges: readonly Edge[];
  /** Whether an edge is one that the graph is about. */
  isMarked?: (edge: Edge) => boolean;
  /** A link that fills the place of its node. */
  children: (node: T) => ReactNode;
}

export function Graph<T>({ label, nodes, keyOf, edges, isMarked, children }: GraphProps<T>) {
  const drawing = useMemo(() => drawingOf(nodes, keyOf, edges), [nodes, keyOf, edges]);
  const { width, height } = drawing;
  return (
    <section aria-label={label} tabIndex={0} className="overflow-x-auto border-b bg-surface p-3 -outline-offset-2">
      <div
        className="relative sm:[height:var(--h)] sm:[width:var(--w)]"
        style={{ '--h': `${height}px`, '--w': `${width}px` } as CSSProperties}
      >
        <svg
          aria-hidden="true"
          viewBox={`0 0 ${width} ${height}`}
          className="absolute inset-0 hidden sm:block"
          width={width}
          height={height}
          fill="none"
        >
          {drawing.edges.map(({ key, from, to, path }) => {
            const marked = isMarked?.({ from, to }) ?? false;
            return (
              <path
                key={key}
                d={path}
                stroke={marked ? 'var(--color-accent)' : 'var(--color-strong)'}
                strokeWidth={marked ? 2.5 : 1.2}
                strokeLinejoin="round"
              />
            );
          })}
        </svg>
        <ol className="space-y-1.5 sm:space-y-0">
          {drawing.nodes.map(({ key, node, x, y }) => (
            <li
              key={key}
              className="sm:absolute sm:[height:var(--nh)] sm:[left:var(--x)] sm:[top:var(--y)] sm:[width:var(--nw)]"
              style={
                {
                  '--x': `${x}px`,
                  '--y': `${y}px`,
                  '--nw': `${NODE.width}px`,
                  '--nh': `${NODE.height}px`,
                } as CSSProperties
              }
            >
              {children(node)}
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** @returns the classes of a link in a node */
export const nodeClass = (isSelected: boolean): string =>
  `flex h-full min-h-11 flex-col justify-center gap-0.5 rounded-md border bg-surface px-2 text-sm hover:bg-raised ${
    isSelected ? 'border-accent outline-1 outline-accent' : 'border-line'
  }`;
