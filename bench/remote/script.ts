// The naive way of the benchmark, by hand with undici: a request becomes a query, what a poll brings is sent back. `node script.js PORT UPSTREAM POLLS`.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

const [port, upstream = '', polls] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 64 });

createServer(async (request, response) => {
  request.resume();
  const { body } = await pool.request({ method: 'GET', path: '/value' });
  const value = (await body.json()) as object;
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(value));
}).listen(Number(port), '127.0.0.1');

async function poll(n: number): Promise<void> {
  const { statusCode, body } = await pool.request({ method: 'GET', path: `/poll/script/${n}` });
  if (statusCode !== 200) return body.dump();
  const value = (await body.json()) as { n: number; level: number };
  const headers = { 'Content-Type': 'application/json' };
  const reply = await pool.request({
    method: 'PUT',
    path: `/taken/${value.n}`,
    headers,
    body: JSON.stringify({ n: value.n, level: value.level }),
  });
  await reply.body.dump();
}

for (let n = 0; n < Number(polls); n++) {
  setInterval(() => void poll(n), 1_000);
  await sleep(1_000 / Number(polls)); // not all at the same moment
}
