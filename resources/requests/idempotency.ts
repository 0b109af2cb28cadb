// X-Cascade-Request-Id (integrations.md 12.6): a POST that a client repeats, having had no answer, is answered from its idempotency record.
// The record belongs to the user, the request and its rights: the same id on anything else is refused. The record is stored in the unit of
// the request's first change, so that a crash cannot separate them; the whole reply is added when it is known. A request with several
// instances has a record for each, in the unit that stores it, until there is a reply. A procedure's run has one for each statement, as a
// rule's run has in the journal: a repetition goes on behind the last.

import { createHash } from 'node:crypto';
import { type Collection, type Db, Long, ObjectId } from 'mongodb';
import { decodeInner, encodeInner, getOwn, isObject, type ObjectValue, setOwn, type Value } from '../../stdlib/values/index.ts';
import { type Actor, ChildRunIds, committing, type StepStore } from '../../runtime/context/index.ts';
import type { ApiReply, ApiRequest } from '../api.ts';
import { DuplicateKey, type Step, type UnitOfWork, type Write } from '../../runtime/transactions/index.ts';
import { openText, parseJson, sealText, toJson } from '../../model/values/index.ts';
import { resolve, type Namespace, type Resource } from '../catalog/index.ts';
import { definitionJson, shown } from '../definitions/index.ts';
import { apiError } from '../../model/errors/index.ts';
import { StateKey } from '../states.ts';
import { ANSWER_ROOM } from './answer-room.ts';
import { carryOut } from './carry-out.ts';
import { isStatement } from './change.ts';
import { ReadUpload, type Upload } from './read-upload.ts';
import { answersArray, counted, NO_CONTENT, reply } from './request.ts';
import { changedReply, instanceText, typedIf } from './typed.ts';

export const IDEMPOTENCY_RECORDS = 'answers';
const KEPT_SECONDS = 86_400;

/** Length of the common prefix of a request's record ids for single instances; the rest is the instance's number. */
const PREFIX_DIGITS = 20;
const STEP_PREFIX_DIGITS = 16;

interface StoredAnswer {
  readonly _id: ObjectId;
  readonly at: Date;
  /** Inner JSON of the first change's result; null where it has none. Sealed where the namespace has a key. */
  readonly answer: string | null;
  /** The reply; its body is sealed likewise. */
  readonly reply?: ApiReply;
  /** The digest of the request: `digestOf`. */
  readonly digest?: string;
}

/** Names the use of the key that seals texts of records. */
const PURPOSE = 'kept answer';

const openedReply = ({ storage: { cipher } }: Namespace, id: ObjectId, { body, ...reply }: ApiReply): ApiReply =>
  body === undefined ? reply : { ...reply, body: openText(cipher, body, PURPOSE, id.toHexString()) };

const openedAnswer = ({ storage: { cipher } }: Namespace, id: ObjectId, answer: string | null | undefined): string | null =>
  answer == null ? null : openText(cipher, answer, PURPOSE, id.toHexString());

export async function indexIdempotencyRecords(db: Db): Promise<void> {
  await db.collection(IDEMPOTENCY_RECORDS).createIndex({ at: 1 }, { expireAfterSeconds: KEPT_SECONDS });
}

interface Running {
  readonly digest: string;
  readonly work: Promise<ApiReply>;
  /** Whether who has asked for it waits no longer, so that it may have been given up. */
  readonly isLeft: () => boolean;
}

const RUNNING = new StateKey<Map<string, Running>>('requests with an id', () => new Map());

/** Digest of the request and the rights that it is made with. */
function digestOf(request: ApiRequest): string {
  const { op, resourceName, custom, resourceId, parameters, object, text, identity } = alikeOverBoth(request);
  const { namespace, profiles, restricted, system, installationAdmin, ofToken } = identity;
  const own = ofToken === undefined ? [] : [ofToken]; // it may be in other groups than its user
  const rights = [namespace, [...profiles].sort(), restricted === true, system === true, installationAdmin === true, ...own];
  const asked = [op, resourceName, custom, resourceId ?? null, parameters, object ?? null, text ?? null];
  return createHash('sha256')
    .update(encodeInner([rights, asked]))
    .digest('hex');
}

/**
 * Another installation may repeat a request over the other binding, when the address of the node has changed: what these spell in ways of
 * their own is left out (integrations.md 11.8).
 */
function alikeOverBoth(request: ApiRequest): ApiRequest {
  if (!request.federation) return request;
  const { upsert, ...parameters } = request.parameters; // over HTTP the operation is in it
  return { ...request, custom: null, parameters: request.op === 'upsert' || upsert === undefined ? parameters : request.parameters };
}

/** @throws request.id.reused */
function requireSame(requestId: string, stored: string | undefined, digest: string): void {
  if (stored !== digest) throw apiError('cascade.request.id.reused', requestId.split('\n', 1)[0]!); // of a batch's part that of the batch
}

/** Carries out a request; one with a request id at most once per day and identity. @throws as `carryOut` */
export function carryOutIdempotently(space: Namespace, request: ApiRequest, actor: Actor): Promise<ApiReply> {
  const { requestId } = request;
  if (requestId === undefined) return carryOut(space, request, actor);
  if (request.transfer?.kind === 'upload') return recordedUpload(space, request, request.transfer, requestId, actor);
  return recorded(space, request, requestId, actor);
}

/** As `recorded`, for a body that is known only when all of it has been read: whoever has the same id waits for the one in work. */
async function recordedUpload(space: Namespace, request: ApiRequest, upload: Upload, requestId: string, actor: Actor): Promise<ApiReply> {
  const key = keyOf(request, requestId);
  const inWork = space.states.get(RUNNING);
  for (let other = inWork.get(key); other; other = inWork.get(key)) await other.work.catch(() => undefined);
  const read = new ReadUpload(upload, digestOf(request));
  const records: Records = {
    id: ObjectId.createFromHexString(key),
    prefix: '',
    steps: '',
    requestId,
    get digest() {
      return read.digest();
    },
  };
  const work = answerOnce(space, { ...request, transfer: read.transfer }, actor, records, () => read.rest());
  inWork.set(key, { digest: read.head, work, isLeft: () => false });
  try {
    return await work;
  } finally {
    inWork.delete(key);
  }
}

const textOf = ({ identity }: ApiRequest, requestId: string): string => `${identity.username}\n${requestId}`;

const keyOf = (request: ApiRequest, requestId: string): string =>
  createHash('sha256').update(textOf(request, requestId)).digest('hex').slice(0, 24);

async function recorded(space: Namespace, request: ApiRequest, requestId: string, actor: Actor): Promise<ApiReply> {
  const text = textOf(request, requestId);
  const key = keyOf(request, requestId);
  const digest = digestOf(request);
  const inWork = space.states.get(RUNNING);
  const known = inWork.get(key);
  if (known) {
    requireSame(requestId, known.digest, digest);
    try {
      return await known.work;
    } catch (error) {
      if (known.isLeft()) return recorded(space, request, requestId, actor);
      throw error;
    }
  }
  const prefix = createHash('sha256').update(`${text}\n${digest}\nparts`).digest('hex').slice(0, PREFIX_DIGITS);
  const steps = createHash('sha256').update(`${text}\n${digest}\nsteps`).digest('hex').slice(0, STEP_PREFIX_DIGITS);
  const records = { id: ObjectId.createFromHexString(key), prefix, steps, requestId, digest };
  const work = answerOnce(space, { ...request, streams: false }, actor, records);
  inWork.set(key, { digest, work, isLeft: () => request.isGone?.() === true || request.signal?.aborted === true });
  try {
    return await work;
  } finally {
    inWork.delete(key);
  }
}

/** The ids of a request's records: its own, the prefix of those for single instances, and the prefix of those for statements. */
interface Records {
  readonly id: ObjectId;
  readonly prefix: string;
  /** The prefix of ids for steps of a run. */
  readonly steps: string;
  readonly requestId: string;
  readonly digest: string;
}

/** @param readAll reads what the digest still lacks, where the request is not carried out */
async function answerOnce(
  space: Namespace,
  request: ApiRequest,
  actor: Actor,
  records: Records,
  readAll?: () => Promise<void>,
): Promise<ApiReply> {
  const { id, requestId } = records;
  const answers = space.storage.db.collection<StoredAnswer>(IDEMPOTENCY_RECORDS);
  // Steps are read before the reply: a former owner that is late stores the reply and then removes the steps, so a missing step implies
  // that the reply is found.
  const stepStore = request.op === 'execute' ? await keepSteps(space, answers, records) : undefined;
  const parts = !stepStore && Array.isArray(request.object) ? await storedParts(space, answers, records) : new Map<number, string>();
  const stored = await answers.findOne({ _id: id });
  if (stored) await readAll?.();
  if (stored) requireSame(requestId, stored.digest, records.digest);
  const recorded = stored && replyFrom(space, request, stored);
  if (recorded) return recorded;
  let given: ApiReply;
  try {
    given = await carryOut(space, request, {
      ...recording(space, actor, records, stored !== null),
      checkpoints: parts,
      ...(stepStore && { childRunIds: new ChildRunIds(`request/${id.toHexString()}`, stepStore) }),
    });
  } catch (error) {
    if (!(error instanceof AnsweredElsewhere)) throw error;
    const other = await answers.findOne({ _id: id });
    if (other) requireSame(requestId, other.digest, records.digest);
    return (other && replyFrom(space, request, other)) ?? NO_CONTENT;
  }
  const isKept = (given.body?.length ?? 0) <= space.states.get(ANSWER_ROOM).longest(request.op);
  // A procedure whose reply is not kept has run all the same: a repetition is told its status.
  const kept = isKept ? given : request.op === 'execute' ? { ...given, body: undefined } : null;
  if (kept)
    await answers.updateOne(
      { _id: id },
      { $set: { at: new Date(), reply: keptReply(space, request, id, kept), digest: records.digest }, $setOnInsert: { answer: null } },
      { upsert: true },
    );
  if (request.op === 'execute') await answers.deleteMany({ _id: idsFrom(records.steps) });
  else if (Array.isArray(request.object)) await answers.deleteMany({ _id: partIds(records) });
  return given;
}

/** The recorded reply: without secrets that are shown only once, so that a copy of the store gives nobody a login. */
function keptReply(space: Namespace, request: ApiRequest, id: ObjectId, { body, ...reply }: ApiReply): ApiReply {
  if (body === undefined) return reply;
  const isAccount = space.catalog.features.installationResource(request.resourceName, request.custom) !== undefined;
  return { ...reply, body: sealText(space.storage.cipher, isAccount ? withoutSecrets(body) : body, PURPOSE, id.toHexString()) };
}

/** Members of a creation's reply that are shown only once and never stored. */
const SHOWN_ONCE: ReadonlySet<string> = new Set(['accessToken', 'generatedPassword', 'code']);

function withoutSecrets(json: string): string {
  const strip = (value: Value): Value => {
    if (Array.isArray(value)) return value.map(strip);
    if (!isObject(value)) return value;
    if (isError(value)) return value; // its `code` is no secret
    const kept: ObjectValue = {};
    for (const key of Object.keys(value)) if (!SHOWN_ONCE.has(key)) setOwn(kept, key, strip(getOwn(value, key)));
    return kept;
  };
  return toJson(strip(parseJson(json)));
}

/** Whether it is an element that reports the error of one instance. No account has an array of this name. */
const isError = (value: ObjectValue): boolean => Object.hasOwn(value, 'message') && Array.isArray(getOwn(value, 'params'));

/** The reply from a record; undefined where the record is incomplete. */
const replyFrom = (space: Namespace, request: ApiRequest, { _id, reply: given, answer }: StoredAnswer): ApiReply | undefined =>
  given ? openedReply(space, _id, given) : replyOf(space, request, openedAnswer(space, _id, answer));

/** Another process was given the same request. */
class AnsweredElsewhere extends Error {}

const partId = ({ prefix }: Records, number: number): ObjectId =>
  ObjectId.createFromHexString(prefix + number.toString(16).padStart(24 - PREFIX_DIGITS, '0'));

const partIds = (records: Records) => ({ $gte: partId(records, 0), $lte: partId(records, 16 ** (24 - PREFIX_DIGITS) - 1) });

const idsFrom = (prefix: string) => ({
  $gte: ObjectId.createFromHexString(prefix.padEnd(24, '0')),
  $lte: ObjectId.createFromHexString(prefix.padEnd(24, 'f')),
});

/** Reads the steps of an earlier attempt, and stores those to come. */
async function keepSteps(space: Namespace, answers: Collection<StoredAnswer>, { steps: prefix }: Records): Promise<StepStore> {
  const found = await answers
    .find({ _id: idsFrom(prefix) })
    .sort({ _id: 1 })
    .toArray();
  const steps = found.map(({ _id, answer }) => fromText(openedAnswer(space, _id, answer) ?? ''));
  let next = steps.length;
  return {
    taken: (run) => steps.filter((step) => step.run === run),
    write: (step): Write => {
      const _id = ObjectId.createFromHexString(prefix + (next++).toString(16).padStart(24 - prefix.length, '0'));
      return {
        collection: IDEMPOTENCY_RECORDS,
        op: 'insert',
        document: {
          _id,
          ars_version: Long.fromNumber(1),
          at: new Date(),
          answer: sealText(space.storage.cipher, JSON.stringify(step), PURPOSE, _id.toHexString()),
        },
      };
    },
  };
}

/** Parses a step, which is plain data except for its times. */
function fromText(text: string): Step {
  const step = JSON.parse(text) as Step;
  const reads = step.reads.map((read) => ({ ...read, at: new Date(read.at) }));
  return { ...step, at: new Date(step.at), startedAt: new Date(step.startedAt), reads };
}

/** Results of parts that an earlier attempt has stored, by number. */
async function storedParts(space: Namespace, answers: Collection<StoredAnswer>, records: Records): Promise<Map<number, string>> {
  const found = await answers.find({ _id: partIds(records) }).toArray();
  return new Map(
    found.map(({ _id, answer }) => [
      Number.parseInt(_id.toHexString().slice(PREFIX_DIGITS), 16),
      openedAnswer(space, _id, answer) ?? 'null',
    ]),
  );
}

/** An actor that stores the record with the first change, or with each part. */
function recording(space: Namespace, actor: Actor, records: Records, isRecorded: boolean): Actor {
  let recorded = isRecorded;
  return committing(actor, async (unit, answer, part) => {
    if (part)
      return actor.commit(withRecord(space, unit, { id: partId(records, part.number), digest: records.digest }, part.note), answer, part);
    if (recorded || (unit.writes.length === 0 && unit.events.length === 0)) return actor.commit(unit, answer);
    recorded = true;
    try {
      await actor.commit(withRecord(space, unit, records, answer && 'ok' in answer ? answer.ok : null), answer);
    } catch (error) {
      recorded = false;
      if (error instanceof DuplicateKey && error.collection === IDEMPOTENCY_RECORDS) throw new AnsweredElsewhere();
      throw error;
    }
  });
}

const withRecord = (
  { storage: { cipher } }: Namespace,
  unit: UnitOfWork,
  { id, digest }: Pick<Records, 'id' | 'digest'>,
  answer: string | null,
): UnitOfWork => ({
  ...unit,
  writes: [
    ...unit.writes,
    {
      collection: IDEMPOTENCY_RECORDS,
      op: 'insert',
      document: {
        _id: id,
        ars_version: Long.fromNumber(1),
        at: new Date(),
        digest,
        answer: answer === null ? null : sealText(cipher, answer, PURPOSE, id.toHexString()),
      },
    },
  ],
});

/** Operations whose reply shows one instance or definition as it is now. */
const SHOWING_ONE: ReadonlySet<string> = new Set(['insert', 'upsert', 'update', 'patch']);

/** The reply to a request about one instance, from the result of its change; undefined where that does not suffice. */
function replyOf(space: Namespace, request: ApiRequest, answer: string | null): ApiReply | undefined {
  if (answer === null || (Array.isArray(request.object) && request.op !== 'patch')) return undefined;
  if (request.op === 'update' && isStatement(request)) return changedReply(request, decodeInner(answer));
  if (request.op === 'publish') return reply('{}');
  if (request.op === 'rename') return reply(definitionJson(decodeInner(answer) as ObjectValue));
  if (request.op === 'submit') return reply(toJson(decodeInner(answer)));
  const isDelete = request.op === 'delete';
  if (!isDelete && !SHOWING_ONE.has(request.op)) return undefined;
  const isNew = request.op === 'insert' || request.op === 'upsert';
  // The first change of an account's request need not be that of the account: what depends on it goes first.
  if (!isNew && space.catalog.features.installationResource(request.resourceName, request.custom)) return undefined;
  const resource = resolve(space, request.resourceName, request.custom);
  if (isDelete) return deletesAtOnce(resource, request) ? deletedReply(request, answer) : undefined;
  const given = decodeInner(answer);
  const jsonOf = (one: Value): string =>
    resource.kind === 'instances'
      ? instanceText(request, resource.type, one as ObjectValue)
      : definitionJson(shown(space, resource, one as ObjectValue));
  const isList = Array.isArray(given); // of an upload's parts
  const items = isList ? given.map(jsonOf).join(',') : jsonOf(given);
  const json = isList || answersArray(resource) ? `[${items}]` : items;
  return { ...reply(json), ...(isNew && counted(request, isList ? given.length : 1)), ...typedIf(request, resource) };
}

/** Whether the commit with the answer is the whole deletion: a client's definitions of a condition are deleted one by one. */
const deletesAtOnce = (resource: Resource, request: ApiRequest): boolean =>
  resource.kind === 'instances' ? !resource.end : request.resourceId !== undefined || isStatement(request);

const deletedReply = (request: ApiRequest, answer: string): ApiReply => ({
  ...NO_CONTENT,
  ...counted(request, Number(decodeInner(answer))),
});
