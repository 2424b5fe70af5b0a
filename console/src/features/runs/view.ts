/** The state of a run's page, as the address holds it. */

export const RUN_TABS = ['summary', 'timeline', 'transcript', 'context', 'memories', 'files'] as const;
export type RunTab = (typeof RUN_TABS)[number];

export interface RunView {
  tab?: RunTab;
  /** The id of the event whose pane is open. */
  event?: number;
}

export function parseRunView(search: Record<string, unknown>): RunView {
  const tab = RUN_TABS.find((known) => known === search.tab);
  const event = Number(search.event);
  return {
    ...(tab && tab !== 'summary' && { tab }),
    ...(Number.isSafeInteger(event) && event > 0 && { event }),
  };
}
