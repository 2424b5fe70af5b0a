/** `/health`: how the deployment is. */
import { Health } from '../features/health/health.tsx';
import { Page } from '../ui/page.tsx';

export const HealthPage = () => (
  <Page title="Health">
    <Health />
  </Page>
);
