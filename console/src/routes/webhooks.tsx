/**
 * The page `/webhooks`, which shows endpoints, deliveries with their attempts, output destinations and what was sent
 * there.
 */
import { Deliveries } from '../features/webhooks/deliveries.tsx';
import { Destinations, Outputs } from '../features/webhooks/destinations.tsx';
import { Endpoints } from '../features/webhooks/endpoints.tsx';
import { SectionPage } from '../ui/section-page.tsx';

export const WebhooksPage = () => (
  <SectionPage
    title="Webhooks"
    views={[
      { tab: 'endpoints', label: 'Endpoints', view: ({ id }) => <Endpoints id={id} /> },
      {
        tab: 'deliveries',
        label: 'Deliveries',
        view: () => (
          <div className="p-4">
            <Deliveries />
          </div>
        ),
      },
      { tab: 'destinations', label: 'Destinations', view: ({ id }) => <Destinations id={id} /> },
      { tab: 'outputs', label: 'Sent artifacts', view: ({ id }) => <Outputs id={id} /> },
    ]}
  />
);
