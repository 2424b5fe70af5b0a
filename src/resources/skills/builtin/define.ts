/** Makes a built-in skill, so that a file beside this one holds only what is its own. */
import type { BuiltinSkill } from '../model.ts';

export const defineSkill = ({ body, ...skill }: BuiltinSkill): BuiltinSkill => ({ ...skill, body: body.trim() });
