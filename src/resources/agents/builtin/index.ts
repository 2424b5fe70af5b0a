/** The built-in agents, in the order in which they are listed. A new one needs its file and its line here. */
import type { Agent, BuiltinAgent } from '../model.ts';
import { analyst } from './analyst.ts';
import { animator } from './animator.ts';
import { assistant } from './assistant.ts';
import { coder } from './coder.ts';
import { copywriter } from './copywriter.ts';
import { designer } from './designer.ts';
import { editor } from './editor.ts';
import { educator } from './educator.ts';
import { illustrator } from './illustrator.ts';
import { interviewer } from './interviewer.ts';
import { outliner } from './outliner.ts';
import { planner } from './planner.ts';
import { researcher } from './researcher.ts';
import { reviewer } from './reviewer.ts';
import { storyteller } from './storyteller.ts';
import { tester } from './tester.ts';
import { writer } from './writer.ts';

/** A run that names no agent and resembles none gets this one. */
export const DEFAULT_AGENT = assistant.slug;

/**
 * Built-in agents by slug. It is a Map, because a slug comes from an address and `__proto__` must be as unknown as any
 * other.
 */
export const builtinAgents: ReadonlyMap<string, BuiltinAgent> = new Map(
  [
    assistant,
    researcher,
    planner,
    outliner,
    writer,
    editor,
    reviewer,
    analyst,
    coder,
    designer,
    tester,
    copywriter,
    storyteller,
    illustrator,
    animator,
    educator,
    interviewer,
  ].map((agent) => [agent.slug, agent]),
);

/** @returns whether a workspace chose the agent's model; the one that ships with a built-in agent is nobody's choice */
export const hasChosenModel = ({
  slug,
  isBuiltin,
  model,
  defaultModel,
}: Pick<Agent, 'slug' | 'isBuiltin' | 'model' | 'defaultModel'>): boolean =>
  Boolean(defaultModel) || !isBuiltin || model !== builtinAgents.get(slug)?.model;
