/**
 * What a skill is: guidance for a kind of work that an agent reads when it has that work to do. Pure.
 *
 * Built-in ones are files under `builtin/`; custom ones are entries of the workspace's memory, of type `skill`.
 */
import { SHARED, type EntryStatus } from '../memory/model.ts';

/** `agent`: for the agents that it names and no others. */
export const SKILL_SCOPES = [SHARED, 'agent'] as const;
export type SkillScope = (typeof SKILL_SCOPES)[number];

/** Characters. A longer one would crowd out the work that it is about. */
export const MAX_BODY_LENGTH = 50_000;

/** The tool by which an agent reads a skill. */
export const LOAD_SKILL = 'load_skill';

/** One file under `builtin/` each. */
export interface BuiltinSkill {
  slug: string;
  title: string;
  /** What an agent chooses by: for which work this is. */
  description: string;
  category: string;
  /** Who is told of it when a run begins. Every agent can load it, where it is named to it. */
  agents: readonly string[];
  /** Markdown; names other skills and tools as `[[slug]]`. */
  body: string;
}

export interface Skill {
  /** Of the entry; null for built-in ones. */
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
  /** Empty: everybody. */
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
/** The single agent that a skill is for, as it was said before there could be several. */
export const agentOf = ({ agents }: { agents: readonly string[] }): string | null =>
  agents.length === 1 ? agents[0]! : null;

/** The first word of the slug: `seo` of `seo-keywords`. */
export const categoryOf = (slug: string): string => /[^._:/-]+/.exec(slug)?.[0] ?? slug;

/** What an importer puts before the name of what it brings in. */
const INGESTION_PREFIX = /^\s*skill:\s*(?=\S)/i;
export const titleOf = (name: string): string => name.replace(INGESTION_PREFIX, '');

/** In characters as the database counts them. */
export const lengthOf = (text: string): number => Array.from(text).length;
