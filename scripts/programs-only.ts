// The service of programs alone (programs/server.ts) as a process: `node programs-only.js` prints its address.
import type { AddressInfo } from 'node:net';
import { programsServer } from './programs/server.ts';

const server = programsServer();
server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.on('end', () => process.exit()).resume(); // it ends with whoever started it
