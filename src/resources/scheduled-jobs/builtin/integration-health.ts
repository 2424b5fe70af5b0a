import { systemJob } from './define.ts';

export const integrationHealth = systemJob({
  id: 'integration-health',
  description: 'Asks the providers of all integrations whether their credentials still work.',
  cron: '0 3 * * *',
  run: (facts, customerId) => facts.recheckCredentials(customerId),
});
