/** The page `/health`, which shows the state of the deployment. */
import { Health } from '../features/health/health.tsx';
import { Page } from '../ui/page.tsx';

export const HealthPage = () => (
  <Page title="Health">
    <Health />
  </Page>
);
