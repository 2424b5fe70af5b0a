/** R3: every recorded history replays, and real work of each kind goes on when a worker remembers nothing between tasks. */
import { proveByTests } from './jest.ts';

await proveByTests({
  name: 'replay',
  claim: 'R3',
  title: 'every workflow replays, from the record and without a cache',
  tests: [
    'test/histories/replay',
    ...['lifecycle', 'cancel', 'spawn', 'threads', 'webhooks', 'tools.test'].map(
      (name) => `test/resources/runs/${name}`,
    ),
    ...['execution', 'gates', 'control', 'commands', 'cascades', 'edit-sessions', 'queue', 'step-outputs'].map(
      (name) => `test/resources/projects/${name}`,
    ),
    ...['miniapps/ask-human', 'scheduled-jobs/', 'output-destinations/deliveries', 'workspaces/provisioning'].map(
      (name) => `test/resources/${name}`,
    ),
    ...['workspaces/destroy', 'retention/', 'integrations/schedule', 'billing/wallet-metering', 'heartbeats/'].map(
      (name) => `test/resources/${name}`,
    ),
    ...['run-conversation', 'run-human'].map((name) => `test/workflows/${name}`),
  ],
  env: { TEST_WORKFLOW_CACHE: '0' },
});
