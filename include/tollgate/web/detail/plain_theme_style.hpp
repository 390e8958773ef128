#pragma once

#include <string_view>

namespace tollgate::inline v0::detail {

/// One style sheet for all pages: light and dark by the system's setting, contrast at least 4.5 to 1 for text and 3 to
/// 1 for borders of controls.
inline constexpr std::string_view plain_style_sheet = R"(:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f6f8fa; --line: #dde3ea; --edge: #7c8896; --ink: #17202a; --quiet: #55616e;
  --accent: #0a5a9c; --accent-deep: #07457a; --on-accent: #ffffff;
  --danger: #a61b29; --danger-deep: #82131f; --on-danger: #ffffff; --danger-paper: #fdf3f3;
  --good: #0b6b46; --good-paper: #eff8f3; --care: #805300; --care-paper: #fdf7e9;
  --shadow: 0 .5rem 1.5rem rgb(20 30 40 / 16%);
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11161c; --panel: #191f27; --line: #2d3742; --edge: #717e8c; --ink: #e4e9ef; --quiet: #a3afbb;
    --accent: #7fbdf5; --accent-deep: #a9d3fa; --on-accent: #0a1c2e;
    --danger: #ff9aa2; --danger-deep: #ffbcc1; --on-danger: #2c0a0d; --danger-paper: #2a181b;
    --good: #6fd3a5; --good-paper: #12241d; --care: #e8bd6b; --care-paper: #272013;
    --shadow: 0 .5rem 1.5rem rgb(0 0 0 / 55%);
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1.5rem; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1, h2 { line-height: 1.25; letter-spacing: -.015em; text-wrap: balance; overflow-wrap: anywhere; }
h1 { font-size: 1.85rem; margin: 0 0 .6rem; }
h2 { font-size: 1.25rem; margin: 0 0 1rem; }
p { margin: 0 0 1rem; max-width: 42rem; text-wrap: pretty; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .18em; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: .25rem; }
code { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .875em;
  overflow-wrap: anywhere; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--paper); z-index: 2; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.quiet, .optional { color: var(--quiet); font-weight: 400; }

body > header { background: var(--panel); border-bottom: 1px solid var(--line); }
.bar, body > nav, main { max-width: 66rem; margin-inline: auto; padding-inline: 1.5rem; }
.bar { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem; min-height: 3.75rem;
  padding-block: .6rem; }
.name { color: var(--ink); font-weight: 650; letter-spacing: -.01em; text-decoration: none; padding-block: .2rem; }
.name:hover { text-decoration: underline; }
.who { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem 1rem; font-size: .925rem; color: var(--quiet); min-width: 0; }
.who > span { overflow-wrap: anywhere; }
.who form { margin: 0; }
body > nav { padding-block: 1rem 0; }
body > nav ul { display: flex; flex-wrap: wrap; gap: .25rem; list-style: none; margin: 0 -.8rem; padding: 0; }
body > nav a { display: block; padding: .4rem .8rem; border-radius: .5rem; color: var(--ink); text-decoration: none; }
body > nav a:hover { background: var(--panel); }
body > nav a[aria-current] { background: var(--panel); color: var(--accent); font-weight: 600; }
main { padding-block: 2.25rem 5rem; }
.narrow main { max-width: 30rem; padding-block: clamp(2rem, 8vh, 6rem) 5rem; }

.heading { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: .5rem 1.5rem;
  margin-bottom: .6rem; }
.heading h1 { margin: 0; }
.lead { color: var(--quiet); margin-bottom: 2rem; }
.nothing { border: 1px dashed var(--edge); border-radius: .6rem; padding: 1.5rem; color: var(--quiet); max-width: none;
  margin-bottom: 2.5rem; }
.notice, .faults, .caution { border-left: .3rem solid var(--good); border-radius: .25rem; background: var(--good-paper);
  padding: .8rem 1.1rem; margin: 0 0 1.75rem; max-width: 42rem; }
.faults { border-color: var(--danger); background: var(--danger-paper); }
.faults h2 { font-size: 1.05rem; margin: 0 0 .25rem; }
.faults ul { margin: 0; padding: 0; list-style: none; }
.faults a { color: var(--danger); }
.caution { border-color: var(--care); background: var(--care-paper); }

button, .button, summary { display: inline-block; font: inherit; font-weight: 600; line-height: 1.4; text-decoration: none; cursor: pointer;
  border: 1px solid transparent; border-radius: .5rem; padding: .55rem 1.1rem; background: var(--accent); color: var(--on-accent); }
button:hover, .button:hover { background: var(--accent-deep); }
button.quiet, .heading .button, summary { background: transparent; border-color: var(--edge); color: var(--ink); font-weight: 500; }
button.quiet:hover, .heading .button:hover, summary:hover { background: var(--panel); border-color: var(--ink); }
header button.quiet { padding: .25rem .75rem; font-size: .925rem; }
button.danger { background: var(--danger); color: var(--on-danger); }
button.danger:hover { background: var(--danger-deep); }

.form { border: 1px solid var(--line); border-radius: .75rem; background: var(--panel); padding: 1.75rem; margin-top: 2.5rem; }
.form > form { max-width: 34rem; }
.field { margin: 0 0 1.4rem; padding: 0; border: 0; min-width: 0; max-width: 34rem; }
.field > label, legend { display: block; font-weight: 600; margin-bottom: .3rem; padding: 0; }
.hint { color: var(--quiet); font-size: .925rem; line-height: 1.5; margin: -.1rem 0 .4rem; }
.fault { color: var(--danger); margin: 0 0 .4rem; }
.faulty { border-left: .3rem solid var(--danger); padding-left: .9rem; }
input:not([type=checkbox]), select, textarea { display: block; width: 100%; min-width: 0; font: inherit; line-height: 1.4;
  color: var(--ink);
  background: var(--paper); border: 1px solid var(--edge); border-radius: .5rem; padding: .55rem .75rem; }
input:focus-visible, select:focus-visible, textarea:focus-visible { outline-offset: 0; border-radius: .5rem; }
.faulty input:not([type=checkbox]), .faulty select, .faulty textarea { border-color: var(--danger); }
.choice { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .75rem; align-items: start; padding: .35rem 0; }
.choice input { width: 1.5rem; height: 1.5rem; margin: 0; accent-color: var(--accent); }
.choice code { display: block; color: var(--quiet); }
input.copied:not([type=checkbox]) { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .925rem; user-select: all; }
.chooser { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin-bottom: 2rem; }
.chooser p, .chooser label { width: 100%; margin: 0; }
.chooser label { font-weight: 600; }
.chooser select { width: auto; max-width: 100%; }

.narrow main > ul { margin: 0 0 1.25rem; padding-left: 1.25rem; }
.narrow li + li { margin-top: .5rem; }
.narrow li code { display: block; color: var(--quiet); }
.narrow form h2 { margin-top: 2rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.75rem 0 1rem; }
blockquote { margin: 0 0 1rem; padding: .1rem 0 .1rem 1rem; border-left: .2rem solid var(--line); color: var(--quiet);
  overflow-wrap: anywhere; }

.account { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
table { width: 100%; border-collapse: collapse; margin-bottom: 2.5rem; font-size: .95rem; line-height: 1.5; }
th, td { text-align: left; vertical-align: top; padding: .85rem 1.25rem .85rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-size: .85rem; font-weight: 600; padding-block: 0 .5rem; white-space: nowrap; }
tbody th { font-weight: 600; min-width: 10rem; overflow-wrap: anywhere; }
tbody th p { font-weight: 400; font-size: .95rem; margin: .15rem 0 0; color: var(--quiet); }
td { min-width: 5.5rem; overflow-wrap: anywhere; }
.whole, .codes code { overflow-wrap: break-word; }
td ul { margin: 0; padding: 0; list-style: none; }
.texts li + li { margin-top: .35rem; }
time { white-space: nowrap; }
.actions { padding-right: 0; white-space: nowrap; overflow-wrap: normal; text-align: right; }
.confirm { display: inline-block; position: relative; white-space: normal; text-align: left; }
.confirm + .confirm { margin-left: .4rem; }
summary { list-style: none; padding: .2rem .7rem; font-size: .9rem; white-space: nowrap; }
summary::-webkit-details-marker { display: none; }
.confirm[open] > summary { border-color: var(--ink); background: var(--panel); }
.confirm > div { position: absolute; right: 0; top: calc(100% + .4rem); z-index: 1; width: 21rem; max-width: 80vw; padding: 1.1rem 1.2rem;
  background: var(--paper); border: 1px solid var(--edge); border-radius: .6rem; box-shadow: var(--shadow); overflow-wrap: anywhere; }
.confirm form { margin: 0; }

.state { display: inline-block; font-size: .85rem; font-weight: 600; line-height: 1.4; white-space: nowrap; border-radius: 1rem;
  padding: .1rem .65rem; border: 1px solid var(--edge); color: var(--quiet); }
.state.good { border-color: var(--good); color: var(--good); background: var(--good-paper); }
.state.care { border-color: var(--care); color: var(--care); background: var(--care-paper); }
.state.bad { border-color: var(--danger); color: var(--danger); background: var(--danger-paper); }
.standing { display: flex; flex-direction: column; align-items: flex-start; gap: .35rem .75rem; }
.standing form, .caution form, .deliveries form { margin: 0; }
.standing button, .deliveries button { padding: .2rem .7rem; font-size: .9rem; white-space: nowrap; }
.deliveries time { white-space: normal; }
.caution.bad { border-color: var(--danger); background: var(--danger-paper); }
.caution.bad > :last-child, .faults > p { margin: 0; }
.deliveries { list-style: none; margin: 0; padding: 0; }
.deliveries > li { border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.25rem; margin-bottom: 1rem; }
.deliveries .heading { margin-bottom: .25rem; }
.lead > .state { margin-left: .25rem; }
.deliveries h2 { display: flex; flex-wrap: wrap; align-items: center; gap: .35rem .75rem; font-size: 1.05rem; margin: 0; }
.deliveries p { font-size: .925rem; margin: 0; max-width: none; overflow-wrap: anywhere; }
.attempts { list-style: none; margin: .6rem 0 0; padding: 0; border-top: 1px solid var(--line); }
.attempts li { padding: .45rem 0; border-bottom: 1px solid var(--line); font-size: .95rem; }
.attempts li:last-child { border-bottom: 0; padding-bottom: 0; }
.attempts li > p { font-size: inherit; padding-left: 1.25rem; }
.attempt > summary { display: list-item; list-style: disclosure-closed outside; margin-left: 1.25rem; padding: 0;
  border: 0; border-radius: 0; font-size: inherit; font-weight: 400; line-height: 1.6; white-space: normal; background: none; }
.attempt > summary:hover { background: none; text-decoration: underline; }
.attempt[open] > summary { list-style-type: disclosure-open; }
.attempt > summary::-webkit-details-marker { display: revert; }
.ending { font-weight: 600; }
.attempt > .hint { margin: .5rem 0 .3rem 1.25rem; }
pre { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .85rem; line-height: 1.5; margin: 0 0 .5rem 1.25rem; padding: .75rem 1rem; border-radius: .5rem;
  background: var(--panel); white-space: pre-wrap;
  overflow-wrap: anywhere; }

@media (max-width: 56rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, th, td { display: block; }
  tr { border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.1rem; margin-bottom: 1rem; }
  th, td { border: 0; padding: .3rem 0; min-width: 0; }
  tbody th { font-size: 1.05rem; padding-top: 0; }
  td[data-label] { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: .75rem; }
  td[data-label]::before { content: attr(data-label); color: var(--quiet); }
  .standing { flex-flow: row wrap; align-items: center; }
  .actions { text-align: left; white-space: normal; padding: .6rem 0 0; }
  .confirm[open] { display: block; margin: .5rem 0; }
  .confirm[open] + .confirm { margin-left: 0; }
  .confirm > div { position: static; width: auto; max-width: none; margin-top: .6rem; box-shadow: none; }
}
@media (max-width: 30rem) {
  .bar, body > nav, main { padding-inline: 1.1rem; }
  .form { padding: 1.25rem 1.1rem; }
  td[data-label] { grid-template-columns: 6.5rem minmax(0, 1fr); }
}
@media (max-width: 23rem) {
  td[data-label] { grid-template-columns: 1fr; gap: 0; }
}
@media print {
  nav, .skip, .actions, .form, header form { display: none; }
}
)";

/// An inline icon: otherwise browsers request /favicon.ico.
inline constexpr std::string_view plain_icon =
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' "
    "fill='%230a5a9c'/%3E%3Cpath d='M4 4h8v2H9v6H7V6H4z' fill='%23fff'/%3E%3C/svg%3E";

}  // namespace tollgate::detail
