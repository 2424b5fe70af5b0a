/** Makes the ways to run other people's programs, as the settings allow them. All of them share the same places. */
import type { Config } from '../core/config.ts';
import { createCommandSandbox } from './command.ts';
import { createContainerSandbox } from './container.ts';
import { createScriptSandbox } from './script.ts';
import { createSlots } from './slots.ts';

const MB = 1_024 * 1_024;

export const createSandboxes = (config: Config) => {
  const slots = createSlots(config.TOOLS_CONCURRENCY);
  const limits = { slots, memoryBytes: config.TOOLS_MEMORY_MB * MB, processes: config.TOOLS_PROCESSES };
  return {
    script: createScriptSandbox({ slots, memoryBytes: config.TOOLS_SCRIPT_MEMORY_MB * MB }),
    command: createCommandSandbox({
      ...limits,
      bubblewrap: config.TOOLS_BUBBLEWRAP,
      isOn: config.TOOLS_COMMAND === 'bwrap',
    }),
    container: createContainerSandbox({
      ...limits,
      isOn: config.TOOLS_CONTAINER === 'docker',
      dockerHost: config.DOCKER_HOST,
      images: config.TOOLS_CONTAINER_IMAGES,
      runtime: config.TOOLS_CONTAINER_RUNTIME,
    }),
  };
};
