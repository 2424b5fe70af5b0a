/** All that names agents, tools and skills. */
import { agentsNaming } from './agents/naming.ts';
import { heartbeatsNaming } from './heartbeats/naming.ts';
import { skillsNaming } from './memory/naming.ts';
import { projectsNaming } from './projects/naming.ts';
import type { Naming } from './references/model.ts';
import { jobsNaming } from './scheduled-jobs/naming.ts';
import { workflowsNaming } from './templates/naming.ts';

export const NAMING: readonly Naming[] = [
  jobsNaming,
  heartbeatsNaming,
  agentsNaming,
  skillsNaming,
  workflowsNaming,
  projectsNaming,
];
