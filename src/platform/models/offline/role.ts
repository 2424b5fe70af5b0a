/** Tells which kind of work a reply does, so that it uses the sentences of that kind. */

export type OfflineRole =
  | 'researcher'
  | 'analyst'
  | 'outliner'
  | 'writer'
  | 'copywriter'
  | 'editor'
  | 'reviewer'
  | 'tester'
  | 'illustrator'
  | 'designer'
  | 'planner'
  | 'storyteller'
  | 'educator'
  | 'coder'
  | 'animator'
  | 'general';

/** Words by which a role is known. An earlier one wins: a "motion designer" is an animator. */
const ROLE_WORDS: readonly (readonly [OfflineRole, RegExp])[] = [
  ['copywriter', /\b(?:copywriter|slogans?|marketing)\b/i],
  ['reviewer', /\breview(?:er)?\b/i],
  ['tester', /\b(?:tester|testing)\b/i],
  ['researcher', /\bresearch(?:er)?\b/i],
  ['analyst', /\banalyst\b/i],
  ['outliner', /\b(?:outliner|outline)\b/i],
  ['editor', /\b(?:editor|proofread(?:er)?|copy-edit|final copy)\b/i],
  ['illustrator', /\billustrat(?:or|e|ion)\b/i],
  ['animator', /\b(?:animator|motion|storyboard)\b/i],
  ['storyteller', /\b(?:storyteller|story|stories)\b/i],
  ['educator', /\b(?:educator|teacher|lesson|exercises?)\b/i],
  ['coder', /\b(?:coder|programmer|engineer|developer|code)\b/i],
  ['designer', /\b(?:designer|design|look)\b/i],
  ['planner', /\b(?:planner|plan|schedule)\b/i],
  ['writer', /\b(?:writer|author|write|article|draft)\b/i],
];

const roleIn = (text: string): OfflineRole | undefined => ROLE_WORDS.find(([, words]) => words.test(text))?.[0];

/**
 * @param system the system prompt, whose first sentence says who the model is to be
 * @param stepTitle decides if the system prompt names no role
 */
export function detectRole(system: string, stepTitle = ''): OfflineRole {
  const [firstLine = ''] = system.trimStart().slice(0, 400).split('\n', 1);
  const [firstSentence = ''] = firstLine.split('. ', 1);
  return roleIn(firstSentence) ?? roleIn(stepTitle.slice(0, 200)) ?? 'general';
}
