// Converts an HTTP answer to the result that a program gets (integrations.md 2.5). Pure.
import { type ObjectValue, setOwn, type Value } from '../../../../stdlib/values/index.ts';
import type { AnswerRoom } from '../../../../platform/egress/index.ts';
import { decodeContent, hasValues, mediaType } from '../../content/index.ts';
import type { HttpAnswer } from '../../http/index.ts';
import type { PlannedRequest } from './request.ts';

const MEDIA_TYPE = /^[^\s/;]+\/[^\s/;]+$/;

/** The content type of an answer: `responseType`, else its own, else that of the request. */
export function typeOfAnswer(
  answer: HttpAnswer,
  { responseType, contentType }: Pick<PlannedRequest, 'responseType' | 'contentType'>,
): string {
  if (responseType !== null) return responseType;
  const said = [answer.headers['content-type'] ?? []].flat()[0];
  return said !== undefined && MEDIA_TYPE.test(mediaType(said)) ? said : contentType;
}

/** @param room what the answer holds @throws ContentError; cascade.quota.exceeded: no room for its values */
export async function bodyOfAnswer(owner: string, answer: HttpAnswer, plan: PlannedRequest, room?: AnswerRoom): Promise<Value> {
  if (answer.status === 204 || answer.body.length === 0) return null;
  const contentType = typeOfAnswer(answer, plan);
  if (hasValues(contentType)) await room?.growForValues();
  return decodeContent(owner, contentType, answer.body);
}

export const textOfAnswer = ({ body }: HttpAnswer): string => body.toString('utf8');

export function headersOfAnswer({ headers }: HttpAnswer): ObjectValue {
  const shown: ObjectValue = {};
  for (const [name, value] of Object.entries(headers)) setOwn(shown, name, value);
  return shown;
}

export function fullResponse(answer: HttpAnswer, body: Value): ObjectValue {
  const cookies = [answer.headers['set-cookie'] ?? []].flat();
  return { status: answer.status, headers: headersOfAnswer(answer), cookies, body };
}
