/** What of a run is looked at, as it stands in the address. */

export const RUN_TABS = ['summary', 'timeline', 'transcript', 'context', 'memories', 'files'] as const;
export type RunTab = (typeof RUN_TABS)[number];

export interface RunView {
  tab?: RunTab;
  /** Id of the event whose pane is open. */
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
