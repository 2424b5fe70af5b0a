/** The page `/costs`, which shows what runs cost, by agent, model, project or day. */
import { Costs } from '../features/costs/costs.tsx';

export const CostsPage = () => <Costs />;
