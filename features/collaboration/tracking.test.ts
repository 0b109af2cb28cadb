// spec: builtins.md 26; integrations.md 7.4 9.2
import { expect, test, vi } from 'vitest';
import { openTestEngine } from '../../engine/testing/engine.ts';
import { Committer } from '../../runtime/transactions/index.ts';
import { evaluator } from '../builtins/testing/value.ts';

const at = (north: number) => ({ type: 'Point', coordinates: [0, north] });

test('positions that come as one message with many elements are one unit, and each goes by those before it', async () => {
  await using t = await openTestEngine();
  const value = evaluator(() => t);
  await t.type('Told', { topic: { type: 'String' }, by: { type: 'String' } });
  await t.ask('insert', 'topics', { body: JSON.stringify({ name: '/walk', autoUnwind: true, isReliable: true }) });
  await t.program(
    'rules',
    'RULE walks WHEN EVENT OCCURS ON "/topics/walk" AS e INSERT Told(topic: "walk", by: e.value.username) Event.ack()',
  );
  await t.program('rules', 'RULE arrives WHEN EVENT OCCURS ON "/topics/there" AS e INSERT Told(topic: "there", by: e.value.username)');
  for (const user of ['ann', 'ben'])
    await value(
      `LocationTracking.trackCollaborator(activity: "go", user: "${user}", destination: {type: "Point", coordinates: [0.0, 1.0]}, arrivalTopic: "/there", reportingTopic: "/walk")`,
    );
  const submitted = vi.spyOn(Committer.prototype, 'submit');
  const steps = [
    { username: 'ann', location: at(0.2) },
    { username: 'ANN', location: at(0.5) },
    { username: 'ben', location: at(0.4) },
    { username: 'ann', location: at(1) },
    { username: 'ben', location: at(0.4001) },
    { username: 'ann', location: at(0.7) },
    { username: 'nobody', location: at(1) },
  ];
  await t.ask('publish', 'topics', { id: '/walk', body: JSON.stringify(steps) });
  const units = submitted.mock.calls
    .map(([{ events }]) => events.map(({ path }) => path.split('/')[2]))
    .filter((paths) => paths.includes('walk'));
  submitted.mockRestore();
  expect(units.map((paths) => paths.filter((path) => path === 'walk' || path === 'there'))).toEqual([
    ['walk', 'walk', 'walk', 'walk', 'there', 'walk', 'walk', 'walk'],
  ]);
  expect((await t.eventually('Told', { topic: 'walk' }, 7)).map(({ by }) => by).sort()).toEqual(
    steps.map(({ username }) => username).sort(),
  );
  expect(await t.eventually('Told', { topic: 'there' }, 1)).toMatchObject([{ by: 'ann' }]);
  expect(await t.rows('ArsActiveTrack')).toMatchObject([{ username: 'ben', lastLocation: at(0.4) }]);
});

test('the devices of a tracked user are asked for its positions, and told when a track ends, however it does', async () => {
  await using t = await openTestEngine();
  const value = evaluator(() => t);
  await t.ask('insert', 'ArsPushTarget', { body: '{"deviceId":"phone","platform":"web"}' });
  const received: Record<string, unknown>[] = [];
  const listening = await t.engine.subscribe(t.identity, '/inbox/phone', {}, (notice) => {
    if (notice.kind === 'event') received.push(JSON.parse(notice.valueJson) as Record<string, unknown>);
  });
  await listening.begin?.();
  const track = async (more: string): Promise<string> => {
    const called = `LocationTracking.trackCollaborator(activity: "go", user: "ANN", ${more}, reportingTopic: "/where")`;
    return ((await value(called)) as { _id: string })._id;
  };
  const destination = { type: 'Point', coordinates: [0, 1] };
  const first = await track('level: "coarse"');
  const second = await track('destination: {type: "Point", coordinates: [0.0, 1.0]}');
  await t.ask('publish', 'topics', { id: '/where', body: JSON.stringify({ username: 'ann', location: at(1) }) });
  const third = await track('distanceFilter: 50.0');
  await value(`LocationTracking.untrackCollaborator("${third}", "ann")`);
  const { id } = (await value('CollaborationUtils.createCollaboration("leak")')) as { id: string };
  const fourth = (await value(`ActivityPattern.run("Track", "${id}", "drive", {user: "ann", reportingTopic: "/where"})`)) as {
    _id: string;
  };
  await value(`CollaborationUtils.closeCollaboration("${id}")`);
  await expect.poll(() => received.length).toBe(8);
  const asked = { kind: 'track', activity: 'go', level: 'fine', distanceFilter: 200, desiredAccuracy: 100, reportingTopic: '/where' };
  const ends = { kind: 'untrack', activity: 'go' };
  expect(received).toEqual([
    { ...asked, trackId: first, level: 'coarse', destination: null, destinationRadius: 500 },
    { ...ends, trackId: first },
    { ...asked, trackId: second, destination, destinationRadius: 500 },
    { ...ends, trackId: second },
    { ...asked, trackId: third, distanceFilter: 50, destination: null, destinationRadius: 500 },
    { ...ends, trackId: third },
    { ...asked, trackId: fourth._id, activity: 'drive', destination: null, destinationRadius: 500 },
    { ...ends, trackId: fourth._id, activity: 'drive' },
  ]);
  listening.close();
});
