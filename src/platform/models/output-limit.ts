/** How many tokens of output a call asks for: the smallest of its limits, whose name tells what to raise. */

/** Less is of no use to anybody. */
export const LEAST_OUTPUT = 256;
/** Asked for where nothing is known of a model, and nobody says how much it may write. */
export const DEFAULT_OUTPUT = 4_096;

const RAISED_BY = {
  model: 'That is the largest output of the model: ask for less, or choose another model.',
  default:
    'Nothing is known of the largest output of the model: raise MODEL_MAX_OUTPUT_TOKENS or the max_output_tokens of the agent, say its max_output in MODEL_CATALOGUE, or ask for less.',
  agent: 'That is the limit of the agent: raise its max_output_tokens, or ask for less.',
  setting: 'Raise MODEL_MAX_OUTPUT_TOKENS, or ask for less.',
  window:
    'That is what its context window has left: shorten the brief, attachments or thread, or choose a model with a larger window.',
  budget: 'That is what a budget or the wallet could still pay: raise the budget or buy credit, or ask for less.',
} as const;
export type OutputLimitName = keyof typeof RAISED_BY;

export interface OutputLimit {
  tokens: number;
  by: OutputLimitName;
}

/** @returns what a person can do about an output that the limit cut off */
export const howToRaise = ({ by }: OutputLimit): string => RAISED_BY[by];

/** @returns the smallest, of equal ones the first */
export const smallestLimit = (...limits: readonly [OutputLimit, ...OutputLimit[]]): OutputLimit =>
  limits.reduce((least, limit) => (limit.tokens < least.tokens ? limit : least));
