/** Groups failed runs by why they failed. Pure. */

export interface FailedRun {
  run_id: string;
  agent: string | null;
  error: string;
  cost_usd: number;
  completed_at: string;
}

export interface Failure {
  /** What the errors have in common: ids, numbers, addresses and quoted texts are left out. */
  reason: string;
  /** The newest error, whole. */
  example: string;
  count: number;
  agents: string[];
  cost_usd: number;
  latest_at: string;
  /** Newest first. */
  run_ids: string[];
}

const VARYING: readonly [RegExp, string][] = [
  [/https?:\/\/[^\s"'<>]+/g, '<address>'],
  [/"[^"]*"|“[^“”]*”|'[^'\s]{3,}'|`[^`]*`/g, '<text>'],
  [/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, '<id>'],
  [/\b[a-z\d_-]{24,}\b/gi, '<id>'],
  [/\d{1,20}/g, '<n>'],
];
const MAX_REASON = 200;

/** @returns what an error has in common with others of its kind */
export const reasonOf = (error: string): string =>
  VARYING.reduce((text, [pattern, sign]) => text.replace(pattern, sign), error.slice(0, 2_000).trim())
    .replace(/\s+/g, ' ')
    .slice(0, MAX_REASON);

/**
 * @param runs newest first
 * @param maxIds so many ids are kept of each group
 * @returns the most frequent reason first
 */
export function groupFailures(runs: readonly FailedRun[], maxIds: number): Failure[] {
  const groups = new Map<string, Failure>();
  for (const { run_id: id, agent, error, cost_usd: usd, completed_at: at } of runs) {
    const reason = reasonOf(error);
    const group = groups.get(reason) ?? {
      reason,
      example: error,
      count: 0,
      agents: [],
      cost_usd: 0,
      latest_at: at,
      run_ids: [],
    };
    group.count++;
    group.cost_usd += usd;
    if (agent !== null && !group.agents.includes(agent)) group.agents.push(agent);
    if (group.run_ids.length < maxIds) group.run_ids.push(id);
    groups.set(reason, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
