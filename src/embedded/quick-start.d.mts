/** Environment variables for one of our processes; what is set already stays. */
export const quickStart: (
  env: NodeJS.ProcessEnv,
) => Record<'MALLOC_ARENA_MAX' | 'MALLOC_TRIM_THRESHOLD_' | 'NODE_COMPILE_CACHE' | 'NODE_OPTIONS', string>;
