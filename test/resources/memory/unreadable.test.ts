/** Memories in scripts that the packaged model has no tokens for: found by words, recalled never, and said to be so. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { isReadable } from '../../../src/platform/models/embed-packaged.ts';
import { wordParts } from '../../../src/resources/memory/store/by-words.ts';
import { eventsOf, tool } from '../../support/fixtures/runs.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const ENTRIES = '/v1/memory/entries';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.close());

async function remember(by: Tenant, content: string, fields: object = {}) {
  const { status, body } = await by.cp('POST', ENTRIES, { type: 'fact', content, ...fields });
  expect(status).toBe(201);
  return body;
}
const search = async (by: Tenant, q: string) =>
  (await by.cp('GET', `${ENTRIES}?limit=4&q=${encodeURIComponent(q)}`)).body;

/** Each with a question that it answers. */
const FACTS: Record<string, readonly (readonly [fact: string, question: string])[]> = {
  Chinese: [
    ['公司的报销流程需要经理审批后提交财务部。', '怎么报销费用？'],
    ['大会议室必须至少提前两天预订。', '预订会议室要提前几天？'],
    ['停车场每天晚上八点关门。', '停车场几点关门？'],
    ['每位员工每年有十二天带薪年假。', '一年有多少天年假？'],
  ],
  Japanese: [
    ['経費精算は毎月末までに提出してください。', '経費精算はいつまでですか？'],
    ['会議室は二日前までに予約が必要です。', '会議室の予約は何日前ですか？'],
    ['駐車場は夜八時に閉まります。', '駐車場は何時に閉まりますか？'],
  ],
  Russian: [
    ['Склад в Роттердаме закрыт по воскресеньям.', 'Когда закрыт склад?'],
    ['Счета отправляют первого числа каждого месяца.', 'Когда отправляют счета?'],
    ['Анна руководит отделом дизайна.', 'Кто руководит дизайном?'],
  ],
  Thai: [
    ['ที่จอดรถปิดเวลาสองทุ่มทุกวัน', 'ที่จอดรถปิดกี่โมง'],
    ['ต้องจองห้องประชุมล่วงหน้าสองวัน', 'จองห้องประชุมล่วงหน้ากี่วัน'],
  ],
  Hindi: [
    ['कार्यालय शनिवार को बंद रहता है।', 'कार्यालय किस दिन बंद रहता है?'],
    ['बैठक कक्ष दो दिन पहले आरक्षित करें।', 'बैठक कक्ष कब आरक्षित करें?'],
  ],
  Korean: [
    ['주차장은 매일 저녁 여덟 시에 닫힙니다.', '주차장은 몇 시에 닫나요?'],
    ['회의실은 이틀 전에 예약해야 합니다.', '회의실은 언제 예약해야 하나요?'],
  ],
};

// Guards against: texts of a script without tokens, which have about the same vector, so that any of them was found.
test.each(Object.keys(FACTS))('a question in %s finds what it shares words with', async (language) => {
  const tenant = await service.tenant(`acc_unreadable_${language.toLowerCase()}`);
  const facts = present(FACTS[language]);
  for (const [fact] of facts) expect(await remember(tenant, fact)).toMatchObject({ has_embedding: false });
  await remember(tenant, 'The refund window is 30 days from delivery.');
  for (const [fact, question] of facts) {
    const { data, meta } = await search(tenant, question);
    expect(meta).toMatchObject({ search: true, by: 'words' });
    expect(data[0]).toMatchObject({ preview: fact, has_embedding: false, score: expect.any(Number) });
    expect(data[1]?.score ?? 0).toBeLessThan(data[0].score);
  }
  expect((await tenant.cp('GET', '/v1/memory/stats')).body).toMatchObject({ unreadable: facts.length });
});

// Guards: nothing that shares no word with a question is found, and a question that can be read meets no noise.
test('finds nothing where nothing is shared', async () => {
  const tenant = await service.tenant('acc_unreadable_none');
  await remember(tenant, '停车场每天晚上八点关门。');
  await remember(tenant, 'The refund window is 30 days from delivery.');
  expect((await search(tenant, 'Кто руководит дизайном?')).data).toEqual([]);
  const english = await search(tenant, 'How long do customers have to return a product?');
  expect(english.meta).toMatchObject({ by: 'meaning' });
  expect(english.data.map(({ preview }: { preview: string }) => preview)).toEqual([
    'The refund window is 30 days from delivery.',
  ]);
});

// Guards: a run whose prompt cannot be read recalls nothing, not even what shares its words, and goes on; `always_load`
// does not depend on the model.
test('a prompt that cannot be read recalls nothing', async () => {
  const tenant = await service.tenant('acc_unreadable_recall');
  await remember(tenant, '停车场每天晚上八点关门。');
  const always = await remember(tenant, '请用中文回答。', { always_load: true });
  const run = await tenant.run({ agent: 'writer', prompt: '停车场几点关门？' });
  expect(run.status).toBe('succeeded');
  const context = (await eventsOf(tenant, run.run_id)).find(({ event_type }) => event_type === 'context_loaded');
  expect(present(context).payload).toMatchObject({ memories: [always.id] });
});

// Guards: agents are told that a search went by words, and that a note will not be recalled.
test('agents are told', async () => {
  const tenant = await service.tenant('acc_unreadable_tools');
  const note = { content: '停车场每天晚上八点关门。' };
  const wrote = await tenant.run({ agent: 'assistant', prompt: `Note. ${tool('memory_write', note)}` });
  expect(wrote.output).toContain('cannot read the script of this note');
  const found = await tenant.run({
    agent: 'assistant',
    prompt: `Tell. ${tool('memory_search', { query: '停车场几点关门？' })}`,
  });
  expect(found.output).toContain('cannot read the script of the query');
  expect(found.output).toContain(note.content);
});

// Guards: what counts as readable: mostly Latin letters, or no letters at all.
test.each([
  ['When do we release?', true],
  ['Wann erscheint die nächste Version?', true],
  ['', true],
  ['42 + 1', true],
  ['\u{1f642}', true],
  ['请用 Kubernetes 部署', true],
  ['调用 API 前必须先登录', false],
  ['Ответ', false],
  ['مرحبا', false],
  ['ไทย', false],
])('%s: readable is %s', (text, expected) => {
  expect(isReadable(text)).toBe(expected);
});

// Guards: words are cut into what languages without spaces can be compared by, and a long question stays bounded.
test('cuts words into parts', () => {
  expect(wordParts('停车场 几点')).toEqual(['停车', '车场', '几点']);
  expect(wordParts('Когда, да')).toEqual(['ког', 'огд', 'гда']);
  expect(wordParts('?! 42')).toEqual([]);
  expect(wordParts('𠮷野家')).toEqual(['𠮷野', '野家']);
  expect(wordParts([...Array(500).keys()].map((n) => `слово${n}`).join(' '))).toHaveLength(64);
});
