/** The page `/welcome`, which leads through the first five minutes. */
import { Tour } from '../features/tour/tour.tsx';
import { Empty } from '../ui/empty.tsx';
import { ForWriters } from '../ui/for-writers.tsx';
import { Page } from '../ui/page.tsx';

export const WelcomePage = () => (
  <Page title="The first five minutes">
    <ForWriters
      instead={<Empty title="You may only look here">Somebody with another role takes the first steps.</Empty>}
    >
      <Tour />
    </ForWriters>
  </Page>
);
