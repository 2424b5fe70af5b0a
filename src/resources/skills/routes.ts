/** Binds each contract to a use case, one line apiece. */
import { handle, type Route } from '../../platform/http/endpoint.ts';
import * as contract from './contract.ts';
import type { SkillService } from './service.ts';

export const skillRoutes = ({ skills }: { skills: SkillService }): readonly Route[] => [
  handle(contract.listSkills, ({ caller }) => skills.list(caller.customerId)),
  handle(contract.getSkill, ({ caller, params }) => skills.get(caller, params.slug)),
  handle(contract.createSkill, ({ caller, body }) => skills.create(caller, body)),
  handle(contract.updateSkill, ({ caller, params, body }) => skills.update(caller, params.slug, body)),
  handle(contract.deleteSkill, ({ caller, params, query }) =>
    skills.delete(caller.customerId, params.slug, query.force),
  ),
];
