/** Makes the engine of projects: their record, the commands that steer them, and the care for those that were lost. */
import { meteredProjects } from '../resources/projects/metered.ts';
import { createLostProjects } from '../resources/projects/lost.ts';
import { createProjectCommands } from '../resources/projects/requests/service.ts';
import { createProjectStarter } from '../resources/projects/start.ts';
import { createProjectEngine } from '../resources/projects/engine/index.ts';
import { createProjectReader } from '../resources/projects/store/project-reader.ts';
import { createProjectStore } from '../resources/projects/store/index.ts';
import { builtinTemplates } from '../resources/templates/builtin/index.ts';
import type { Runtime } from '../runtime.ts';
import { shippedOrCustom } from './labels.ts';
import type { Platform } from './platform.ts';

export type Projects = ReturnType<typeof composeProjects>;

const isShipped = (slug: string | null): boolean => builtinTemplates.some(({ spec }) => spec.slug === slug);

export function composeProjects({ config, log, db, temporal }: Runtime, { meters }: Platform) {
  const store = createProjectStore(db);
  const starter = createProjectStarter({ temporal, store, config });
  return {
    stores: { projects: store },
    starter,
    engine: meteredProjects(createProjectEngine(db), db, meters, (slug) => shippedOrCustom(slug, isShipped(slug))),
    projectCommands: createProjectCommands({ temporal, store, starter }),
    projectReader: createProjectReader(db),
    settleProjects: createLostProjects({ ...starter, temporal, store, log }, config.LOST_WORK_INTERVAL),
  };
}
