import type { EmbeddedTemporal } from '../../src/embedded/temporal.ts';

export default async function globalTeardown(): Promise<void> {
  await (globalThis as { temporalServer?: EmbeddedTemporal }).temporalServer?.stop();
}
