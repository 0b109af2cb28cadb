// The forms of `npm run chaos:forms`, and the rule that waits for the answer to each.
import { RestClient, type StartedService } from '../../conformance/client/index.ts';

const CONNECTIONS = 32;
const FORMS_AT_ONCE = 100;
const DEFINITIONS: readonly [string, object | string][] = [
  ['/sources', { name: 'chaosPush', type: 'PUSH_NOTIF', direction: 'SINK', config: {} }],
  ['/types', { name: 'Job', properties: { k: { type: 'Integer' } } }],
  ['/types', { name: 'Answered', properties: { k: { type: 'Integer' }, by: { type: 'Integer' }, n: { type: 'Integer' } } }],
  [
    '/rules',
    `RULE waits WHEN INSERT OCCURS ON Job AS j BEFORE EVENT OCCURS ON "/topics/chaos/answered" AS a
WITHIN 1 day CONSTRAIN TO j.k == a.value.state
INSERT Answered(k: j.k, by: a.value.submitValue, n: a.value.values.n)`,
  ],
  [
    '/procedures',
    `PROCEDURE openForm(k)
INSERT Job(k: k)
var form = {responseTopic: "/chaos/answered", state: k, fields: [
  {type: "inputInteger", id: "n", maxValue: 1000000},
  {type: "footerButton", buttonLabel: "One", value: 1},
  {type: "footerButton", buttonLabel: "Two", value: 2}]}
var message = Notification.sendPayload("chaosPush", null, "chaos", "A form", form, [Context.username()])
return message._id`,
  ],
];

export const jsonOf = (body: object): { text: string; headers: Record<string, string> } => ({
  text: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** @returns two clients of one person, logged in */
export async function setUp(service: StartedService): Promise<readonly [RestClient, RestClient]> {
  const clients = [new RestClient(service.url, CONNECTIONS), new RestClient(service.url, CONNECTIONS)] as const;
  for (const client of clients) await client.login(service.user, service.password);
  for (const [path, body] of DEFINITIONS) {
    const content = typeof body === 'string' ? { text: body, headers: { 'content-type': 'text/plain' } } : jsonOf(body);
    const reply = await clients[0].send('POST', path, content);
    if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
  }
  return clients;
}

/** @returns the ids of the messages; the form at place k has the state k */
export async function openForms(client: RestClient, count: number): Promise<string[]> {
  const ids: string[] = [];
  const open = async (k: number): Promise<void> => {
    const reply = await client.send('POST', '/procedures/openForm', jsonOf([k]));
    if (reply.status !== 200) throw new Error(`form ${k}: ${reply.status} ${reply.text}`);
    ids[k] = JSON.parse(reply.text) as string;
  };
  for (let k = 0; k < count; k += FORMS_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(FORMS_AT_ONCE, count - k) }, (_, at) => open(k + at)));
  return ids;
}
