/** Places nodes and the edges between them on a drawing, from left to right. Pure, apart from the layout's library. */
import { Graph, layout } from '@dagrejs/dagre';

export const NODE = { width: 184, height: 52 };

export interface Edge {
  from: string;
  to: string;
}

export interface Drawing<T> {
  width: number;
  height: number;
  nodes: { key: string; node: T; x: number; y: number }[];
  edges: (Edge & { key: string; path: string })[];
}

/** @param keyOf tells the nodes apart. An edge from or to a node that is not there is left out. */
export function drawingOf<T>(nodes: readonly T[], keyOf: (node: T) => string, edges: readonly Edge[]): Drawing<T> {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 36, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) graph.setNode(keyOf(node), { ...NODE });
  for (const { from, to } of edges) if (graph.hasNode(from) && graph.hasNode(to)) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: nodes.map((node) => {
      const key = keyOf(node);
      const { x, y } = graph.node(key) as Point;
      return { key, node, x: x - NODE.width / 2, y: y - NODE.height / 2 };
    }),
    edges: graph.edges().map((edge) => {
      const { points } = graph.edge(edge) as { points: Point[] };
      return {
        key: `${edge.v} ${edge.w}`,
        from: edge.v,
        to: edge.w,
        path: pathOf(graph.node(edge.v), points, graph.node(edge.w)),
      };
    }),
  };
}

interface Point {
  x: number;
  y: number;
}

/** Draws an edge from the right side of a node to the left side of the next, level at both, through what dagre says. */
function pathOf(from: Point, points: readonly Point[], to: Point): string {
  const start = { x: from.x + NODE.width / 2, y: from.y };
  const end = { x: to.x - NODE.width / 2, y: to.y };
  const between = points.slice(1, -1).filter(({ x }) => x > start.x && x < end.x);
  const all = [start, ...between, end];
  return all.slice(1).reduce((path, point, i) => {
    const before = all[i] ?? start;
    const middle = (before.x + point.x) / 2;
    return `${path}C${middle} ${before.y} ${middle} ${point.y} ${point.x} ${point.y}`;
  }, `M${start.x} ${start.y}`);
}
