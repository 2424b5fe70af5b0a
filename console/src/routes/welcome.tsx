/** The page `/welcome`, which leads through the first five minutes. */
import { Tour } from '../features/tour/tour.tsx';
import { Page } from '../ui/page.tsx';

export const WelcomePage = () => (
  <Page title="The first five minutes">
    <Tour />
  </Page>
);
