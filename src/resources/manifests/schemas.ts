/** Makes JSON Schemas of the shapes of manifests, for editors: they complete fields, and mark what is wrong, as it is typed. */
import { z } from 'zod';
import { fieldsOf } from '../../platform/core/record.ts';
import type { Kind } from './kind.ts';

/** A variable of the environment in the place of a text. */
const VARIABLE = {
  type: 'object',
  description: 'The variable of the environment that has it',
  properties: { env: { type: 'string' } },
  required: ['env'],
  additionalProperties: false,
};

/** @returns a JSON Schema of draft 7, which every editor knows */
export const schemaOf = ({ shape, secrets }: Kind): unknown =>
  z.toJSONSchema(shape, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (!secrets?.schemas?.has(zodSchema)) return;
      const text = fieldsOf({ ...jsonSchema });
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      Object.assign(jsonSchema, { anyOf: [VARIABLE, text] });
    },
  });
