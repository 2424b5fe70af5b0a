/** The page `/schedules`, which shows scheduled jobs and heartbeats. */
import { Heartbeats, Jobs } from '../features/schedules/jobs.tsx';
import { SectionPage } from '../ui/section-page.tsx';

export const SchedulesPage = () => (
  <SectionPage
    title="Schedules"
    views={[
      { tab: 'jobs', label: 'Jobs', view: ({ id }) => <Jobs id={id} /> },
      { tab: 'heartbeats', label: 'Heartbeats', view: ({ id }) => <Heartbeats id={id} /> },
    ]}
  />
);
