/** Binds each contract to a use case, one line apiece. Anything longer belongs in the services. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as commands from './requests/contract.ts';
import type { ProjectCommands } from './requests/service.ts';
import * as contract from './contract.ts';
import * as outlook from './outlook/contract.ts';
import type { ProjectOutlook } from './outlook/service.ts';
import * as reads from './reads/contract.ts';
import type { ProjectService } from './service.ts';

interface Services {
  projects: ProjectService;
  projectCommands: ProjectCommands;
  projectOutlook: ProjectOutlook;
}

export const projectRoutes = ({ projects, projectCommands, projectOutlook }: Services): readonly Route[] => [
  handle(contract.startProject, ({ caller, body, claim }) => projects.startByKey(caller, body, claim)),
  handle(contract.getProjectStatus, ({ caller, params }) => projects.status(caller, params.project_id)),

  handle(contract.createProject, ({ caller, body, claim }) => projects.create(caller, body, claim)),
  handle(contract.updateProject, ({ caller, params, body }) => projects.update(caller, params.project_id, body)),
  handle(reads.listProjects, ({ caller, query }) => projects.list(caller, query)),
  handle(reads.getProject, ({ caller, params }) => projects.get(caller, params.project_id)),
  handle(reads.listTasks, ({ caller, params }) => projects.tasks(caller, params.project_id)),
  handle(reads.getTask, ({ caller, params }) => projects.task(caller, params.project_id, params.task_id)),
  handle(reads.listSubtasks, ({ caller, params }) => projects.subtasks(caller, params.project_id, params.task_id)),
  handle(reads.getSubtask, ({ caller, params }) =>
    projects.subtask(caller, params.project_id, params.task_id, params.subtask_id),
  ),
  handle(reads.listAttempts, ({ caller, params }) => projects.attempts(caller, params.project_id, params.subtask_id)),
  handle(reads.listEventsOfProject, ({ caller, params, query }) =>
    projects.events(caller, params.project_id, query.limit),
  ),
  handle(reads.listEventsOfSubtask, ({ caller, params, query }) =>
    projects.subtaskEvents(caller, params.project_id, params.subtask_id, query.limit),
  ),
  handle(reads.listArtifacts, ({ caller, params, query }) =>
    projects.artifacts(caller, params.project_id, query.current_only),
  ),
  handle(reads.getArtifact, ({ caller, params }) => projects.artifact(caller, params.project_id, params.artifact_id)),
  handle(reads.getProjectCost, ({ caller, params }) => projects.cost(caller, params.project_id)),

  handle(outlook.getCriticalPath, ({ caller, params }) => projectOutlook.criticalPath(caller, params.project_id)),
  handle(outlook.estimateCommand, ({ caller, params, query }) =>
    projectOutlook.estimate(caller, params.project_id, query),
  ),

  handle(commands.pauseProject, ({ caller, params }) => projectCommands.pause(caller, params.project_id)),
  handle(commands.resumeProject, ({ caller, params }) => projectCommands.resume(caller, params.project_id)),
  handle(commands.abandonProject, ({ caller, params }) => projectCommands.abandon(caller, params.project_id)),
  handle(commands.runStep, ({ caller, params }) => projectCommands.runStep(caller, params.project_id)),
  handle(commands.retrySubtask, ({ caller, params, query }) =>
    projectCommands.retrySubtask(caller, params, query.addendum_brief),
  ),
  handle(commands.resolveGate, ({ caller, params, body, claim }) =>
    projectCommands.resolveGate(caller, params, body, claim),
  ),
  handle(commands.retriggerPhase, ({ caller, params, body }) => projectCommands.retrigger(caller, params, body)),
  handle(commands.revertArtifact, ({ caller, params, body }) => projectCommands.revertArtifact(caller, params, body)),
  handle(commands.startEditSession, ({ caller, params, body }) =>
    projectCommands.startEditSession(caller, params.project_id, body),
  ),
  handle(commands.resolveEditPlan, ({ caller, params, body, claim }) =>
    projectCommands.resolveEditPlan(caller, params, body, claim),
  ),
];
