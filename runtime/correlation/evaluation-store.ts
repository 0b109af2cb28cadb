// The stored form of open evaluations, from which a restart restores them (language.md K9).

import { hash } from 'node:crypto';
import { type Db, type Document, Long, ObjectId } from 'mongodb';
import { type SplitText, splitTextsOf, splitTexts, readTexts, removeTexts, type Write } from '../transactions/index.ts';
import { openText, sealText } from '../../model/values/index.ts';
import type { Cipher } from '../../model/types/index.ts';
import type { Bindings, Evaluation, MatchedEvent } from './types.ts';

export const EVALUATIONS = 'evaluations';
/** Long texts of their events: an evaluation may hold more than a document does. */
export const EVALUATION_TEXTS = 'evaluationTexts';
/** Bound of an event's members besides its texts: path, names. */
const BESIDES_TEXT_BYTES = 8_192;
/** Names the use of the key that seals the texts. */
const PURPOSE = 'evaluations';

/** The rule that an evaluation belongs to, without its version, and a hash of its trigger: another trigger has other evaluations. */
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
  readonly happenings: readonly MatchedEvent[];
  /** Texts of the events that are stored in pieces. */
  readonly beside?: readonly SplitText[];
}

/**
 * The writes that store an evaluation, however large its events are.
 * @param cipher seals the values of the events; null where the namespace has no key
 */
export function insertion({ rule, when }: Owner, evaluation: Evaluation, cipher: Cipher | null): Write[] {
  const { order, node, began, deadlineMs, places } = evaluation;
  const _id = idOf({ rule, when }, evaluation);
  const texts = textsOf(evaluation);
  const parted = splitTexts(EVALUATION_TEXTS, _id, texts, (text) => sealText(cipher, text, PURPOSE, _id.toHexString()), { rule, when });
  const happenings = withTexts(evaluation.events, parted.inside as readonly string[]);
  const document = { _id, rule, when, order, node, began, deadline: new Date(deadlineMs), places, happenings };
  const whole = { ...document, ...(parted.beside.length > 0 && { beside: parted.beside }), ars_version: Long.ONE };
  const mostBytes = parted.mostBytes + (happenings.length + 1) * BESIDES_TEXT_BYTES;
  return [...parted.writes, { collection: EVALUATIONS, op: 'insert', document: whole, mostBytes }];
}

export function removal(owner: Owner, evaluation: Evaluation): Write[] {
  const id = idOf(owner, evaluation);
  const texts = removeTexts(EVALUATION_TEXTS, id, splitTextsOf(textsOf(evaluation)));
  return [...texts, { collection: EVALUATIONS, op: 'delete', id, version: 1n }];
}

/** Two texts of each event: value and transport properties. */
const textsOf = ({ events }: Bindings): string[] => events.flatMap(({ value, transport }) => [value, transport?.properties ?? '']);

/** A hash of the evaluation, so that its document can be removed without having remembered the id. */
function idOf({ rule, when }: Owner, { node, began, deadlineMs, events }: Evaluation): ObjectId {
  const text = JSON.stringify([rule, when, node, began, deadlineMs, events.map(({ uuid }) => uuid)]);
  return new ObjectId(hash('sha256', text).slice(0, 24));
}

const withTexts = (events: readonly MatchedEvent[], texts: readonly string[]): MatchedEvent[] =>
  events.map((one, i) => ({
    ...one,
    value: texts[2 * i] as string,
    ...(one.transport && { transport: { ...one.transport, properties: texts[2 * i + 1] as string } }),
  }));

export async function fromStored(
  db: Db,
  document: Document,
  cipher: Cipher | null,
): Promise<{ readonly owner: Owner; readonly evaluation: Evaluation }> {
  const { _id, rule, when, order, node, began, deadline, places, happenings, beside = [] } = document as StoredEvaluation;
  const opened = (text: string): string => openText(cipher, text, PURPOSE, _id.toHexString());
  const apart = await readTexts(db, EVALUATION_TEXTS, _id, beside, opened);
  const texts = textsOf({ places, events: happenings }).map((text: string | null, i) => apart.get(i) ?? opened(text ?? ''));
  const evaluation: Evaluation = {
    order: Number(order),
    node: Number(node),
    began,
    deadlineMs: deadline.getTime(),
    places: places.map(Number),
    events: withTexts(happenings, texts).map((one) => ({ ...one, atMs: Number(one.atMs) })),
    isOpen: true,
    storedIn: 'store',
  };
  return { owner: { rule, when }, evaluation };
}
