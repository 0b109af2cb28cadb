import { type Db, type Document, MongoNetworkError, ObjectId } from 'mongodb';
import { expect, test } from 'vitest';
import { type Committer, type StoredEvent, type UnitOfWork, VersionConflict } from '../transactions/index.ts';
import { HandedOffEvents } from './handed-off-events.ts';

const arrival = (uuid: string): Document => {
  const event: Partial<StoredEvent> = { uuid, value: '{}', runs: [] };
  return { _id: new ObjectId(), event };
};

test('a new owner commits stored events in a unit of their own, before events that arrive meanwhile', async () => {
  const taken: string[] = [];
  const taking = (by: string) => async (unit: UnitOfWork) => {
    expect(unit.isRecovered).toBe(true);
    for (const { uuid } of unit.events) taken.push(`${uuid} ${by}`);
  };
  const [first, second, third] = ['first', 'second', 'third'].map(arrival) as [Document, Document, Document];
  const find = async (): Promise<Document[]> => {
    await Promise.resolve();
    arrivals.add(second); // stored before the stored ones were read, but noticed first
    arrivals.add(third);
    return [first, second];
  };
  const db = { collection: () => ({ find: () => ({ sort: () => ({ toArray: find }) }) }) } as unknown as Db;
  const committer = { submit: taking('later') } as unknown as Committer;
  const arrivals = new HandedOffEvents({ db, committer: () => committer, cipher: () => null, onError: () => undefined });
  await arrivals.start(taking('at once'));
  await arrivals.settled();
  expect(taken).toEqual(['first at once', 'second at once', 'third later']);
});

test('an event that was taken before does not lose the others of its unit, even when retries find the store unavailable', async () => {
  const [taken, other] = ['taken', 'other'].map(arrival) as [Document, Document];
  const stored: string[] = [];
  let isAway = true;
  const submit = async (unit: UnitOfWork) => {
    if (unit.events.some(({ uuid }) => uuid === 'taken')) throw new VersionConflict('arrivals', new ObjectId());
    if (isAway) {
      isAway = false;
      throw new MongoNetworkError('connection closed');
    }
    stored.push(...unit.events.map(({ uuid }) => uuid));
  };
  const db = { collection: () => ({ find: () => ({ sort: () => ({ toArray: async () => [taken, other] }) }) }) } as unknown as Db;
  const arrivals = new HandedOffEvents({
    db,
    committer: () => ({}) as Committer,
    cipher: () => null,
    onError: (error) => expect.fail(String(error)),
  });
  await arrivals.start(submit);
  expect(stored).toEqual(['other']);
});
