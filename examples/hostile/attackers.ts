// The process of the hostile clients: attacks the service at an address with a token until it is told to stop, then says how it was answered.
import { once, setMaxListeners } from 'node:events';
import { attack } from './clients.ts';

const [, , url = '', token = ''] = process.argv;
const { hostname, port } = new URL(url);
process.once('disconnect', () => process.exit(1)); // who has started it is gone
const ending = new AbortController();
setMaxListeners(0, ending.signal);
const attacking = attack({ host: hostname, port: Number(port), token, signal: ending.signal });
await once(process, 'message');
ending.abort();
const answers = await attacking;
process.send?.(
  [...answers].map(([does, how]) => [does, [...how]]),
  () => process.exit(),
);
