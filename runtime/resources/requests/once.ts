// X-Cascade-Request-Id (integrations.md 12.6): a POST that a client repeats, as it has not heard the answer, is answered from the record.
// The record is made in the unit of the request's first change, so a crash cannot part them; the whole reply is added when it is known.
// Of several instances each has a record of its own, in the unit that stores it, until there is a reply.

import { createHash } from 'node:crypto';
import { type Collection, type Db, Long, ObjectId } from 'mongodb';
import { decodeInner, type ObjectValue } from '../../../stdlib/values/index.ts';
import type { Actor } from '../../actor.ts';
import type { ApiReply, ApiRequest } from '../../api.ts';
import { DuplicateKey, type Unit } from '../../commit/index.ts';
import { instanceToJson } from '../../values/index.ts';
import { resolve } from '../catalogue.ts';
import { definitionJson, shown } from '../definitions/operations.ts';
import type { Namespace } from '../types.ts';
import { carryOut } from './index.ts';
import { NO_CONTENT, reply } from './request.ts';

export const ANSWERS = 'answers';
const KEPT_SECONDS = 86_400;
/** A longer reply is not kept: its record alone tells what was stored. */
const LONGEST_BODY = 8_000_000;

/** Of the ids of a request's records of single instances: the rest is the instance's number. */
const PREFIX_DIGITS = 20;

interface StoredAnswer {
  readonly _id: ObjectId;
  readonly at: Date;
  /** Inner JSON of what the first change gave; null where that was nothing of its own. */
  readonly answer: string | null;
  readonly reply?: ApiReply;
}

export async function indexAnswers(db: Db): Promise<void> {
  await db.collection(ANSWERS).createIndex({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS });
}

const running = new WeakMap<Namespace, Map<string, Promise<ApiReply>>>();

/** Carries out a request; one with a request id at most once a day and identity. */
export async function carryOutOnce(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  if (request.requestId === undefined) return carryOut(space, request, actor);
  const text = `${request.identity.username}\n${request.requestId}`;
  const key = createHash('sha256').update(text).digest('hex').slice(0, 24);
  const inWork = running.get(space) ?? new Map<string, Promise<ApiReply>>();
  running.set(space, inWork);
  const known = inWork.get(key);
  if (known) return known;
  const prefix = createHash('sha256').update(`${text}\nparts`).digest('hex').slice(0, PREFIX_DIGITS);
  const work = answerOnce(space, request, actor, { id: ObjectId.createFromHexString(key), prefix });
  inWork.set(key, work);
  try {
    return await work;
  } finally {
    inWork.delete(key);
  }
}

/** The ids of a request's records: its own, and how those of single instances begin. */
interface Records {
  readonly id: ObjectId;
  readonly prefix: string;
}

async function answerOnce(space: Namespace, request: ApiRequest, actor: Actor, records: Records): Promise<ApiReply> {
  const { id } = records;
  const answers = space.db.collection<StoredAnswer>(ANSWERS);
  const stored = await answers.findOne({ _id: id });
  const recorded = stored && (stored.reply ?? replyOf(space, request, stored.answer));
  if (recorded) return recorded;
  let given: ApiReply;
  try {
    const parts = Array.isArray(request.object) ? await storedParts(answers, records) : new Map<number, string>();
    given = await carryOut(space, request, { ...recording(actor, records, stored !== null), parts });
  } catch (error) {
    if (!(error instanceof AnsweredElsewhere)) throw error;
    const other = await answers.findOne({ _id: id });
    return other?.reply ?? replyOf(space, request, other?.answer ?? null) ?? NO_CONTENT;
  }
  if ((given.body?.length ?? 0) <= LONGEST_BODY)
    await answers.updateOne({ _id: id }, { $set: { at: new Date(), reply: given }, $setOnInsert: { answer: null } }, { upsert: true });
  if (Array.isArray(request.object)) await answers.deleteMany({ _id: partIds(records) });
  return given;
}

/** Another process was given the same request. */
class AnsweredElsewhere extends Error {}

const partId = ({ prefix }: Records, number: number): ObjectId =>
  ObjectId.createFromHexString(prefix + number.toString(16).padStart(24 - PREFIX_DIGITS, '0'));

const partIds = (records: Records) => ({ $gte: partId(records, 0), $lte: partId(records, 16 ** (24 - PREFIX_DIGITS) - 1) });

/** What an earlier try has stored, by number. */
async function storedParts(answers: Collection<StoredAnswer>, records: Records): Promise<Map<number, string>> {
  const found = await answers.find({ _id: partIds(records) }).toArray();
  return new Map(found.map(({ _id, answer }) => [Number.parseInt(_id.toHexString().slice(PREFIX_DIGITS), 16), answer ?? 'null']));
}

/** The first change carries the record; parts carry one each. */
function recording(actor: Actor, records: Records, isRecorded: boolean): Actor {
  const { id } = records;
  let recorded = isRecorded;
  return {
    ...actor,
    async commit(unit, answer, part) {
      if (part) return actor.commit(withRecord(unit, partId(records, part.number), part.note), answer, part);
      if (recorded || (unit.writes.length === 0 && unit.events.length === 0)) return actor.commit(unit, answer);
      recorded = true;
      try {
        await actor.commit(withRecord(unit, id, answer && 'ok' in answer ? answer.ok : null), answer);
      } catch (error) {
        recorded = false;
        if (error instanceof DuplicateKey && error.collection === ANSWERS) throw new AnsweredElsewhere();
        throw error;
      }
    },
  };
}

const withRecord = (unit: Unit, id: ObjectId, answer: string | null): Unit => ({
  ...unit,
  writes: [
    ...unit.writes,
    { collection: ANSWERS, op: 'insert', document: { _id: id, ars_version: Long.fromNumber(1), at: new Date(), answer } },
  ],
});

/** The reply to a request about one thing, from what its change gave; undefined where that does not tell all. */
function replyOf(space: Namespace, request: ApiRequest, answer: string | null): ApiReply | undefined {
  if (answer === null || Array.isArray(request.object)) return undefined;
  if (request.op === 'publish') return reply('{}');
  if (request.op !== 'insert' && request.op !== 'upsert') return undefined;
  const resource = resolve(space, request.resourceName, request.custom);
  const stored = decodeInner(answer) as ObjectValue;
  const json =
    resource.kind === 'instances' ? `[${instanceToJson(resource.type, stored)}]` : definitionJson(shown(space, resource, stored));
  return { ...reply(json), ...(request.parameters['count'] === true ? { count: 1 } : {}) };
}
