/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import { listSamples } from './contract.ts';
import type { SampleService } from './service.ts';

export const sampleRoutes = ({ samples }: { samples: SampleService }): readonly Route[] => [
  handle(listSamples, () => samples.list()),
];
