// The flow of Node-RED that the benchmark compares with: a request becomes a query, and what a poll brings is sent back.

const TAB = { z: 'tab' };

const asks = (id: string, next: readonly string[], more: object): object => ({
  ...TAB,
  id,
  type: 'http request',
  ret: 'obj',
  paytoqs: 'ignore',
  persist: true,
  wires: [next],
  ...more,
});

/** @param polls how many polls a second */
export function remoteFlow(upstream: string, polls: number): object[] {
  const query = [
    { ...TAB, id: 'in', type: 'http in', url: '/query', method: 'post', wires: [['get']] },
    asks('get', ['out'], { method: 'GET', url: `${upstream}/value` }),
    { ...TAB, id: 'out', type: 'http response', wires: [] },
  ];
  const poll = Array.from({ length: polls }, (_, n) => ({
    ...TAB,
    id: `tick${n}`,
    type: 'inject',
    props: [{ p: 'url', v: `${upstream}/poll/node-red/${n}`, vt: 'str' }],
    repeat: '1',
    once: true,
    onceDelay: 0.1 + n / polls, // not all at the same moment
    wires: [['polls']],
  }));
  const taken = `if (msg.statusCode !== 200) return null;
return { url: '${upstream}/taken/' + msg.payload.n, payload: { n: msg.payload.n, level: msg.payload.level } };`;
  return [
    ...query,
    ...poll,
    asks('polls', ['takes'], { method: 'GET', url: '' }),
    { ...TAB, id: 'takes', type: 'function', func: taken, outputs: 1, wires: [['puts']] },
    asks('puts', [], { method: 'PUT', url: '', ret: 'txt' }),
  ];
}
