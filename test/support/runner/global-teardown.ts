import type { Servers } from './global-setup.ts';

export default async function globalTeardown(): Promise<void> {
  const { temporal, postgres } = (globalThis as { testServers?: Servers }).testServers ?? {};
  await Promise.all([temporal?.stop(), postgres?.stop()]);
}
