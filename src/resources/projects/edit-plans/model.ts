/** The shape of an edit plan, which the planner of an edit session proposes. Pure, because the workflows use it too. */
import type { JsonSchema } from '../../templates/model.ts';

/** What the planner of an edit session proposes, and what a person may send instead. */
export interface EditPlan {
  summary: string;
  actions: EditAction[];
}

const EDIT_ACTIONS = ['edit_artifact', 'retrigger', 'instruct'] as const;
export const RISKS = ['low', 'medium', 'high'] as const;
export const MAX_EDIT_ACTIONS = 50;

export interface EditAction {
  /** `edit_artifact` sets the content. The other kinds run the phase again, `instruct` with added instructions. */
  kind: (typeof EDIT_ACTIONS)[number];
  phase_slug: string;
  /** For `edit_artifact`: the whole new content. */
  content?: unknown;
  /** Set for `instruct`. */
  instructions?: string;
  rationale: string;
  /** An estimate in US dollars. */
  estimated_cost_usd?: number;
  risk?: (typeof RISKS)[number];
}

/** @returns the JSON schema of an `EditPlan` for these phases */
export const editPlanSchema = (phaseSlugs: readonly string[]): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  required: ['summary', 'actions'],
  properties: {
    summary: { type: 'string', description: 'What the plan achieves, in a few sentences for whoever approves it' },
    actions: {
      type: 'array',
      maxItems: MAX_EDIT_ACTIONS,
      description: 'In the order in which they are carried out',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['kind', 'phase_slug', 'rationale', 'risk'],
        properties: {
          kind: {
            type: 'string',
            enum: EDIT_ACTIONS,
            description:
              'edit_artifact: replace the artifact of the phase by `content`. instruct: run the phase again with ' +
              '`instructions` added. retrigger: run the phase again as it is',
          },
          phase_slug: { type: 'string', enum: phaseSlugs, description: 'The phase that the action is on' },
          content: { description: 'Only of edit_artifact: the whole new artifact, not a part or a difference' },
          instructions: { type: 'string', description: 'Only of instruct: what to do differently this time' },
          rationale: { type: 'string', description: 'Why this action serves the request' },
          estimated_cost_usd: { type: 'number', minimum: 0, description: 'US dollars; 0 for edit_artifact alone' },
          risk: { type: 'string', enum: RISKS, description: 'How much good work the action may undo' },
        },
      },
    },
  },
});
