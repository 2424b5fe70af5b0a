/**
 * Places the phases of a project on a drawing, and tells what depends on what. Pure, apart from the layout's library.
 */
import { Graph, layout } from '@dagrejs/dagre';
import type { Phase } from './types.ts';

export const NODE = { width: 184, height: 52 };

export interface Drawing {
  width: number;
  height: number;
  nodes: { phase: Phase; x: number; y: number }[];
  edges: { key: string; from: string; to: string; path: string }[];
}

export function drawingOf(phases: readonly Phase[]): Drawing {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 36, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { phase_slug: slug } of phases) graph.setNode(slug, { ...NODE });
  for (const { phase_slug: slug, depends_on: before } of phases) {
    for (const name of before) if (graph.hasNode(name)) graph.setEdge(name, slug);
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: phases.map((phase) => {
      const { x, y } = graph.node(phase.phase_slug) as { x: number; y: number };
      return { phase, x: x - NODE.width / 2, y: y - NODE.height / 2 };
    }),
    edges: graph.edges().map((edge) => {
      const { points } = graph.edge(edge) as { points: { x: number; y: number }[] };
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

/** Draws an edge from the right side of a phase to the left side of the next, level at both, through what dagre says. */
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
