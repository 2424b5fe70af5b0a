/** Writes what the planner of an edit session is told. */
import type { Cascade, TaskStatus } from '../model.ts';

export interface PlannedPhase {
  slug: string;
  title: string;
  status: TaskStatus;
  dependsOn: string[];
  /** The version of its current artifact; null where it has none. */
  version: number | null;
}

const CASCADES: Record<Cascade, string> = {
  lazy: 'phases that consumed what you change are marked stale and are not run again by themselves',
  strict: 'phases that consumed what you change are run again in order, so do not list them yourself',
  none: 'phases that consumed what you change stay as they are, so list each one that has to follow',
  default: 'phases that consumed what you change do what their template says: become stale, run again, or stay',
};

export const plannerInstructions = (session: {
  title: string;
  instruction: string;
  cascade: Cascade;
  phases: readonly PlannedPhase[];
}): string => `Plan the changes that the owner of the project "${session.title}" asks for.

## The request

${session.instruction}

## The phases of the project

${session.phases.map(describe).join('\n')}

## How to plan

- Read what the request touches with read_artifact before you judge it.
- Propose the fewest actions that fulfil the request, in the order in which they are to happen. A person approves them
  before anything is changed.
- \`edit_artifact\` replaces the artifact of a phase by the content that you give: for small, certain changes. Give the
  whole artifact in the form it has now.
- \`instruct\` runs a phase again with your instructions added: where the work itself has to be done anew. Say what to
  change and what to keep.
- \`retrigger\` runs a phase again as it is: where only what it consumes has changed.
- Downstream, ${CASCADES[session.cascade]}.
- A phase that is pending or under way cannot be changed; leave it out.
- Give each action its rationale, an estimate of its cost in US dollars, and its risk.
`;

const describe = ({ slug, title, status, dependsOn, version }: PlannedPhase): string =>
  [
    `- ${slug} (${title}): ${status}`,
    version === null ? 'no artifact' : `artifact version ${version}`,
    ...(dependsOn.length > 0 ? [`consumes ${dependsOn.join(', ')}`] : []),
  ].join('; ');
