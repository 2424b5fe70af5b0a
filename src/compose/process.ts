/** Runs a process that is one part of the service. */
import { openMetrics, type Part } from '../observability.ts';
import type { Runtime, Work } from '../runtime.ts';
import { createServices, type Services } from './services.ts';

/**
 * Makes its services, and closes what they hold open after the part itself.
 * @param start starts the part on them
 */
export const withServices =
  (start: (runtime: Runtime, services: Services) => Promise<Part & { close(): Promise<void> }>) =>
  async (runtime: Runtime): Promise<Work> => {
    const services = createServices(runtime);
    const up: Part[] = [];
    const metrics = await openMetrics(runtime, services, up);
    const part = await start(runtime, services);
    up.push(part);
    return {
      reload: () => services.system.reload(),
      async close() {
        metrics?.drain();
        await part.close();
        await metrics?.close(0);
        await services.close();
      },
    };
  };
