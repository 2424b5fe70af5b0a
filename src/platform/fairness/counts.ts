/** Counts by workspace. A workspace with nothing takes no memory. */
export interface Counts {
  all(): number;
  of(workspace: string): number;
  change(workspace: string, by: 1 | -1): void;
}

export function createCounts(): Counts {
  const counts = new Map<string, number>();
  let sum = 0;
  const of = (workspace: string): number => counts.get(workspace) ?? 0;
  return {
    all: () => sum,
    of,
    change(workspace, by) {
      const left = of(workspace) + by;
      if (left === 0) counts.delete(workspace);
      else counts.set(workspace, left);
      sum += by;
    },
  };
}
