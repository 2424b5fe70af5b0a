/**
 * Which of a worker's slots each activity takes, and why one workspace cannot take all of them. The table of
 * docs/operate/performance.md says the same in words.
 */
import type { Activities } from './index.ts';

/**
 * - `model call`, `work`: what is over the share of its workspace gives its slot back (`slotWait`).
 * - `few`: takes a slot for work; a workspace has no more than a handful under way.
 * - `deployment`: takes a slot for work; it is done for all workspaces, by schedules that wait for what they began.
 * - `record`: local, which takes a slot of the SDK: a short statement with a deadline.
 */
type Slots = 'model call' | 'work' | 'few' | 'deployment' | 'record';

export const SLOTS: Readonly<Record<keyof Activities, Slots>> = {
  takeTurn: 'model call',

  callTool: 'work',
  runAction: 'work',
  deliverWebhook: 'work',
  deliverOutput: 'work',
  checkCredentials: 'work',

  packExport: 'few',
  dropExport: 'few',
  runSystemJob: 'few',
  provisionResource: 'few',
  reachRuntime: 'few',
  stopTriggers: 'few',
  stopWork: 'few',
  removeResource: 'few',
  removeFiles: 'few',

  startRuns: 'deployment',
  startProjects: 'deployment',
  startWebhooks: 'deployment',
  startOutputs: 'deployment',
  startWorkspaces: 'deployment',
  settleRuns: 'deployment',
  settleProjects: 'deployment',
  settleWorkspaces: 'deployment',
  followRows: 'deployment',
  tellSubmissions: 'deployment',
  tellRouter: 'deployment',
  tellPauses: 'deployment',
  foldTallies: 'deployment',
  releaseForgotten: 'deployment',
  sweepTexts: 'deployment',
  doTogether: 'deployment',
  tidyWorkflowList: 'deployment',
  runSystemJobForPage: 'deployment',
  enforceRetention: 'deployment',
  chargeInfrastructure: 'deployment',

  endRun: 'record',
  acceptChildRun: 'record',
  recordChildRun: 'record',
  recordSubmission: 'record',
  recordToolFailure: 'record',
  isToolCallOver: 'record',
  nameRun: 'record',
  acceptScheduledRun: 'record',
  startProject: 'record',
  loadBoard: 'record',
  pauseProject: 'record',
  pauseIdle: 'record',
  nextStep: 'record',
  resumeProject: 'record',
  abandonProject: 'record',
  completeProject: 'record',
  retrySubtask: 'record',
  retriggerPhase: 'record',
  revertArtifact: 'record',
  startEditSession: 'record',
  resolveGate: 'record',
  passGateMoment: 'record',
  resolveEditPlan: 'record',
  recoverPhase: 'record',
  openPhase: 'record',
  beginAttempt: 'record',
  settleAttempt: 'record',
  readPhase: 'record',
  closePhase: 'record',
  enactPlan: 'record',
  recordExhausted: 'record',
  recordOutputExhausted: 'record',
  recordExportFailed: 'record',
  beginProvisioning: 'record',
  recordWorkspaceReady: 'record',
  recordProvisioningFailed: 'record',
  beginDestroying: 'record',
  revokeWorkspaceKeys: 'record',
  archiveWorkspace: 'record',
  recordDestroyFailed: 'record',
};

const MODEL_CALLS = new Set(Object.entries(SLOTS).flatMap(([name, slots]) => (slots === 'model call' ? name : [])));

export const isModelCall = (activityType: string): boolean => MODEL_CALLS.has(activityType);
