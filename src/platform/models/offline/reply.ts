/** Composes the replies of the offline model: a text, or JSON of a demanded shape. */
import { composeDocument, documentKind } from './document.ts';
import { createFieldFiller } from './field-filler.ts';
import { fillSchema } from './fill-schema.ts';
import type { Material } from './material.ts';
import { noteOnText } from './notice.ts';
import { createSchemaReader } from './schema-node.ts';

/** @param isJudge the reply begins with the decision */
export function composeText(material: Material, isJudge: boolean): string {
  const { rejection } = material;
  const decision =
    rejection === undefined ? (isJudge ? 'Decision: approve\n\n' : '') : `Decision: reject. ${rejection}\n\n`;
  return noteOnText(decision + composeDocument(material, { kind: documentKind(material), hasTitle: true }));
}

/** @returns JSON that validates against the schema, as far as `fillSchema` knows its keywords */
export function composeJson(material: Material, schema: unknown): string {
  const reader = createSchemaReader(schema);
  const fill = (isMarking: boolean) => {
    const { filler, hasNote } = createFieldFiller(material, reader, isMarking);
    const value = fillSchema(schema, filler, reader);
    return { value, hasNote: hasNote() };
  };
  // Only when all fields are filled is it known whether a document among them carries the note.
  const plain = fill(false);
  return JSON.stringify(plain.hasNote ? plain.value : fill(true).value);
}
