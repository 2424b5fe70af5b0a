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
        path: points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`).join(''),
      };
    }),
  };
}
