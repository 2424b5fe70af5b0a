/** The page `/memory`, which shows what the workspace knows, and how it hangs together. */
import { MemoryCounts } from '../features/memory/counts.tsx';
import { MemoryGraphView } from '../features/memory/graph.tsx';
import { Memory } from '../features/memory/memory.tsx';
import { SectionPage } from '../ui/section-page.tsx';

export const MemoryPage = () => (
  <SectionPage
    title="Memory"
    views={[
      { tab: 'entries', label: 'Entries', view: (search) => <Memory key={search.q} {...search} /> },
      { tab: 'graph', label: 'Graph', view: () => <MemoryGraphView /> },
      { tab: 'counts', label: 'Counts', view: () => <MemoryCounts /> },
    ]}
  />
);
