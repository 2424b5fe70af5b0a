/**
 * Renders a digital planner as one HTML file: linked pages for year, months and weeks, with prompts and habits to tick.
 */
import { z } from 'zod';
import { itemAt } from '../../../platform/core/present.ts';
import { ActionError, type Action, type ActionContext } from './action.ts';
import { idOf, WEEK_STARTS, weeksOf, weeksOfMonth, type Day, type Week } from './rendering/calendar.ts';
import { paletteOf } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { html, type Markup } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { findPart, requirePart, Words } from './rendering/sources.ts';

const Prompts = z.object({
  monthly: z
    .array(z.object({ theme: Words, question: Words }))
    .min(1)
    .max(12),
  weekly: z.array(Words).min(1).max(60),
});
const Trackers = z.object({ habits: z.array(Words).min(1).max(10) });

const PAPER = { background: '#faf8f4', ink: '#2a2d34', accent: '#8a5a44' };

const CSS = `
.tabs{position:sticky;top:0;z-index:1;display:flex;gap:.25rem;overflow-x:auto;padding:.5rem .75rem;background:var(--accent)}
.tabs a{flex:1 0 auto;min-height:44px;display:grid;place-items:center;padding:0 .75rem;border-radius:.5rem;background:var(--background);color:var(--ink);font-weight:650;font-size:.9rem;text-decoration:none}
.leaf{max-width:76rem;margin:0 auto;padding:2rem 1.25rem 3.5rem;scroll-margin-top:4rem;border-bottom:1px solid color-mix(in srgb,var(--ink) 15%,transparent)}
h1{font-size:clamp(2rem,6vw,3.5rem);margin:0 0 1.5rem;letter-spacing:-.02em}
h2{font-size:1.8rem;margin:0 0 .25rem}
h3{font-size:1rem;margin:0 0 .5rem}
.sub{margin:0 0 1.25rem;opacity:.8}
.year h2{font-size:1.1rem;margin-bottom:.5rem}
.year th,.year td{padding:.2rem 0;overflow-wrap:normal}
.year th{font-size:.75rem}
.year{display:grid;gap:1.5rem;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr))}
table{width:100%;border-collapse:collapse;table-layout:fixed;font-size:.85rem;text-align:center}
th{font-weight:650;opacity:.75;padding:.2rem}
td{padding:.2rem}
.out{opacity:.72;font-style:italic}
.month table{font-size:1rem;text-align:left}
.month td,.month th{border:1px solid color-mix(in srgb,var(--ink) 18%,transparent);vertical-align:top;padding:.4rem .5rem}
.month td{height:5.25rem}
.month .wk{width:4.2rem;text-align:center}
.week{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(14rem,100%),1fr))}
.box{border:1px solid color-mix(in srgb,var(--ink) 18%,transparent);border-radius:.6rem;padding:.75rem;min-height:9rem;background:color-mix(in srgb,var(--background) 60%,#fff)}
.habits{margin-top:1rem}
.habits table{text-align:center}
.habits th[scope=row]{text-align:left;width:auto;opacity:1}
.habits td,.habits th{border-bottom:1px solid color-mix(in srgb,var(--ink) 12%,transparent);padding:.4rem}
input[type=checkbox]{width:1.35rem;height:1.35rem;accent-color:var(--accent)}
@media (min-width:64rem){.week{grid-template-columns:repeat(4,1fr)}}
.habits thead th:first-child{width:24%}
@media (max-width:40rem){
.month td{height:3.5rem;padding:.2rem;font-size:.8rem}.month .wk{width:2.6rem;padding:.2rem}
.month th{padding:.3rem .1rem;font-size:.7rem;text-align:center;overflow-wrap:normal}
.habits thead th:first-child{width:30%}.habits td,.habits th{padding:.4rem .1rem}
.habits thead th{font-size:.7rem;overflow-wrap:normal}
}
@media print{@page{size:A4 landscape;margin:10mm}.tabs{display:none}.leaf{break-after:page;border:0;max-width:none;padding:0}
.leaf:last-child{break-after:auto}h1{font-size:2.2rem;margin-bottom:.75rem}
.year{grid-template-columns:repeat(4,1fr);gap:.75rem 1.5rem}.year td,.year th{padding:.05rem 0}
.year section,.habits{break-inside:avoid}}
`;

/** @throws ActionError for a year that does not fit on a calendar page */
function yearOf({ params }: ActionContext['project']): number {
  const year = params.year ?? new Date().getUTCFullYear() + 1;
  if (typeof year === 'number' && Number.isInteger(year) && year >= 1900 && year <= 2200) return year;
  throw new ActionError('the parameter "year" must be a whole number from 1900 to 2200');
}

/** @returns the names of months and days in the language of the planner */
function namesIn(language: string) {
  const [locale = 'en'] = Intl.DateTimeFormat.supportedLocalesOf([language, 'en']);
  const format = (options: Intl.DateTimeFormatOptions) => {
    const formatter = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', calendar: 'gregory', ...options });
    return ({ year, month, day }: Day) => formatter.format(new Date(Date.UTC(year, month - 1, day)));
  };
  return {
    month: format({ month: 'long' }),
    tab: format({ month: 'short' }),
    weekday: format({ weekday: 'short' }),
    date: format({ weekday: 'long', day: 'numeric', month: 'long' }),
    short: format({ day: 'numeric', month: 'short' }),
  };
}

const weekId = ({ days }: Week) => `week-${idOf(itemAt(days, 0))}`;

export const renderPlanner: Action = {
  name: 'render_planner',
  description:
    'Renders a planner for the parameter year (default: the coming one) from prompts {monthly: [{theme, question}], ' +
    'weekly: [text]} and habits [text]: a page for the year, each month and each week, linked by tabs. The parameter ' +
    'week_start is monday or sunday.',
  effect: 'read',
  isPure: true,
  async run(context) {
    const prompts = requirePart(context, 'prompts', 'monthly', Prompts);
    const habits = findPart(context, Trackers)?.habits ?? [];
    const { title, params } = context.project;
    const year = yearOf(context.project);
    const start = WEEK_STARTS.find((each) => each === params.week_start) ?? 'monday';
    const language = languageOf(context.project);
    const names = namesIn(language);
    const weeks = weeksOf(year, start);
    const firsts = Array.from({ length: 12 }, (_, index): Day => ({ year, month: index + 1, day: 1 }));
    const head = html`${itemAt(weeks, 0).days.map((day) => html`<th scope="col">${names.weekday(day)}</th>`)}`;
    const isIn = (day: Day, month: number) => day.year === year && day.month === month;

    const overview = (first: Day): Markup =>
      html`<section>
        <h2><a href="#month-${first.month}">${names.month(first)}</a></h2>
        <table>
          <thead>
            <tr>
              ${head}
            </tr>
          </thead>
          <tbody>
            ${weeksOfMonth(weeks, year, first.month).map(
              ({ days }) =>
                html`<tr>
                  ${days.map((day) => html`<td>${isIn(day, first.month) && day.day}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </section> `;

    const monthPage = (first: Day): Markup => {
      const { theme, question } = itemAt(prompts.monthly, (first.month - 1) % prompts.monthly.length);
      const rows = weeksOfMonth(weeks, year, first.month).map(
        (week) =>
          html`<tr>
            <th scope="row" class="wk">
              <a href="#${weekId(week)}" aria-label="Week ${week.number}">${week.number}</a>
            </th>
            ${week.days.map((day) => html`<td${!isIn(day, first.month) && html` class="out"`}>${day.day}</td>`)}
          </tr>`,
      );
      return html`<section class="leaf month" id="month-${first.month}">
        <h2>${names.month(first)} ${year}</h2>
        <p class="sub"><strong>${theme}</strong> ${question}</p>
        <table>
          <thead>
            <tr>
              <th scope="col" class="wk">Week</th>
              ${head}
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </section> `;
    };

    const weekPage = (week: Week, index: number): Markup =>
      html`<section class="leaf" id="${weekId(week)}">
        <h2>Week ${week.number}</h2>
        <p class="sub">
          ${names.short(itemAt(week.days, 0))} to ${names.short(itemAt(week.days, 6))}.
          ${prompts.weekly[index % prompts.weekly.length]}
        </p>
        <div class="week">
          ${week.days.map((day) => html`<div class="box"><h3>${names.date(day)}</h3></div>`)}
          <div class="box"><h3>Notes</h3></div>
        </div>
        ${
          habits.length > 0 &&
          html`<div class="habits">
            <table>
              <thead>
                <tr>
                  <th scope="col">Habit</th>
                  ${head}
                </tr>
              </thead>
              <tbody>
                ${habits.map(
                  (habit) =>
                    html`<tr>
                      <th scope="row">${habit}</th>
                      ${week.days.map((day) => html`<td><input type="checkbox" aria-label="${habit}, ${names.date(day)}" /></td>`)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
        }
      </section> `;

    const body = html`<nav class="tabs" aria-label="Planner">
        <a href="#year">${year}</a>${firsts.map(
          (first) => html`<a href="#month-${first.month}">${names.tab(first)}</a>`,
        )}
      </nav>
      <main>
        <section class="leaf" id="year">
          <h1>${title}</h1>
          <div class="year">${firsts.map(overview)}</div>
        </section>
        ${firsts.map(monthPage)}${weeks.map(weekPage)}
      </main>`;
    return fileOf(context, 'text/html', page({ title, language, palette: paletteOf(context, PAPER), css: CSS, body }));
  },
};
