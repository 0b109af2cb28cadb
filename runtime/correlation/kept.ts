// How open evaluations are kept in the store, so that a restart finds them (language.md K9).

import { hash } from 'node:crypto';
import { type Document, Long, ObjectId } from 'mongodb';
import type { Write } from '../commit/index.ts';
import { type Cipher, openText, sealText } from '../values/index.ts';
import type { Evaluation, Happening } from './types.ts';

export const EVALUATIONS = 'evaluations';
/** What sealed texts open under. */
const PLACE = 'evaluations';

/** Whose an evaluation is: the rule without its version, and what its trigger is (another one has other evaluations). */
export interface Owner {
  readonly rule: string;
  readonly when: string;
}

interface StoredEvaluation extends Document {
  readonly _id: ObjectId;
  readonly rule: string;
  readonly when: string;
  readonly order: number;
  readonly node: number;
  readonly began: Evaluation['began'];
  readonly deadline: Date;
  readonly places: readonly number[];
  readonly happenings: readonly Happening[];
}

/** @param cipher seals the values of the events; null: the namespace has nothing to hide */
export function insertion({ rule, when }: Owner, evaluation: Evaluation, cipher: Cipher | null): Write {
  const { order, node, began, deadlineMs, places } = evaluation;
  const happenings = evaluation.happenings.map((one) => withTexts(one, (text) => sealText(cipher, text, PLACE)));
  const _id = idOf({ rule, when }, evaluation);
  const document = { _id, rule, when, order, node, began, deadline: new Date(deadlineMs), places, happenings };
  return { collection: EVALUATIONS, op: 'insert', document: { ...document, ars_version: Long.ONE } };
}

export const removal = (owner: Owner, evaluation: Evaluation): Write => ({
  collection: EVALUATIONS,
  op: 'delete',
  id: idOf(owner, evaluation),
  version: 1n,
});

/** Made from what it is, so that nothing more than the evaluation need be remembered. */
function idOf({ rule, when }: Owner, { node, began, deadlineMs, happenings }: Evaluation): ObjectId {
  const text = JSON.stringify([rule, when, node, began, deadlineMs, happenings.map(({ uuid }) => uuid)]);
  return new ObjectId(hash('sha256', text).slice(0, 24));
}

function withTexts(happening: Happening, change: (text: string) => string): Happening {
  const { value, transport } = happening;
  return {
    ...happening,
    value: change(value),
    ...(transport && { transport: { ...transport, properties: change(transport.properties) } }),
  };
}

export function fromStored(document: Document, cipher: Cipher | null): { readonly owner: Owner; readonly evaluation: Evaluation } {
  const { rule, when, order, node, began, deadline, places, happenings } = document as StoredEvaluation;
  const evaluation: Evaluation = {
    order: Number(order),
    node: Number(node),
    began,
    deadlineMs: deadline.getTime(),
    places: places.map(Number),
    happenings: happenings.map((one) => ({ ...withTexts(one, (text) => openText(cipher, text, PLACE)), atMs: Number(one.atMs) })),
    isOpen: true,
    kept: 'store',
  };
  return { owner: { rule, when }, evaluation };
}
