/**
 * A skill is guidance for a kind of work, which an agent reads when it has that work to do. Built-in ones are files
 * under `builtin/`; custom ones are entries of the workspace's memory, of type `skill`.
 */
import { first } from '../../platform/core/present.ts';
import { SHARED, type EntryStatus } from '../memory/model.ts';

/** `agent` means the agents that it names and no others. */
export const SKILL_SCOPES = [SHARED, 'agent'] as const;
export type SkillScope = (typeof SKILL_SCOPES)[number];

/** Counted in characters. A longer body would crowd out the work that it is about. */
export const MAX_BODY_LENGTH = 50_000;

/** An agent reads a skill by this tool. */
export const LOAD_SKILL = 'load_skill';

/** Each built-in skill is one file under `builtin/`. */
export interface BuiltinSkill {
  slug: string;
  title: string;
  /** An agent chooses by this: it says for which work the skill is. */
  description: string;
  category: string;
  /** These agents are told of it when a run begins. Every agent can load it, where it is named to it. */
  agents: readonly string[];
  /** Markdown that names other skills and tools as `[[slug]]`. */
  body: string;
}

export interface Skill {
  /** The id of the entry; null for built-in skills. */
  id: number | null;
  slug: string;
  title: string;
  description: string | null;
  category: string;
  bodyLength: number;
  isBuiltin: boolean;
}

export interface SkillDetail extends Skill {
  body: string;
  alwaysLoad: boolean;
  status: EntryStatus;
  /** An empty list means every agent. */
  agents: readonly string[];
}

/** A skill as an agent is told of it, with its body where it is to be read right away. */
export interface OfferedSkill {
  slug: string;
  title: string;
  description: string | null;
  alwaysLoad: boolean;
  body: string | null;
}

export const scopeOf = ({ agents }: { agents: readonly string[] }): SkillScope =>
  agents.length === 0 ? SHARED : 'agent';
/** @returns the single agent that a skill is for, as the API said it before there could be several */
export const agentOf = ({ agents }: { agents: readonly string[] }): string | null =>
  agents.length === 1 ? first(agents) : null;

/** @returns the first word of the slug: `seo` of `seo-keywords` */
export const categoryOf = (slug: string): string => /[^._:/-]+/.exec(slug)?.[0] ?? slug;

/** Importers put this before the name of what they bring in. */
const INGESTION_PREFIX = /^\s*skill:\s*(?=\S)/i;
export const titleOf = (name: string): string => name.replace(INGESTION_PREFIX, '');

/** @returns the length in characters as the database counts them */
export const lengthOf = (text: string): number => Array.from(text).length;
