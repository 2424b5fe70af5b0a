/** The page `/memory`, which shows what the workspace knows. */
import { Memory } from '../features/memory/memory.tsx';
import { SectionPage } from '../ui/section-page.tsx';

export const MemoryPage = () => (
  <SectionPage
    title="Memory"
    views={[{ tab: 'entries', label: 'Entries', view: (search) => <Memory key={search.q} {...search} /> }]}
  />
);
