/** What a process of ours has of this machine's environment: no setting of the service, which is as on a fresh clone. */
export const inherited = (...more: string[]): Record<string, string | undefined> =>
  Object.fromEntries(['PATH', 'NODE_COMPILE_CACHE', 'NODE_OPTIONS', ...more].map((name) => [name, process.env[name]]));
