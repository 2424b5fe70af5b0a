/** The page `/costs`, which shows what runs cost, and the caps that stop them before they spend more. */
import { Caps } from '../features/costs/caps.tsx';
import { Spent } from '../features/costs/costs.tsx';
import { SectionPage } from '../ui/section-page.tsx';

export const CostsPage = () => (
  <SectionPage
    title="Costs"
    views={[
      { tab: 'spent', label: 'Spent', view: () => <Spent /> },
      { tab: 'caps', label: 'Caps', view: ({ id }) => <Caps id={id} /> },
    ]}
  />
);
