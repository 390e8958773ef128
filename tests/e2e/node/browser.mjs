// One browser, one journey. Says what was found; what goes wrong on the way ends it, with a picture of the place.

import { createServer } from 'node:http'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { Eyes } from './eyes.mjs'
import { Keyboard, Mouse } from './hands.mjs'
import { Journey } from './journey.mjs'
import { Tour } from './tour.mjs'
import { hear, say } from './talk.mjs'

const told = await hear()
mkdirSync(told.shots, { recursive: true })

// The application that people come back to.
const back = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html')
    answer.end('<!doctype html><html lang="en"><title>Back</title><link rel="icon" href="data:,"><h1>Back</h1>')
})
await new Promise((ready) => back.listen(0, '127.0.0.1', ready))
const origin = `http://127.0.0.1:${back.address().port}`
const listener = { origin, url: `${origin}/back` }

const browser = await chromium.launch({
    executablePath: told.chromium,
    // No other name than this machine's leads anywhere: what is asked of another host is found, and goes nowhere.
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
})
const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    bypassCSP: told.thorough, // axe is run in the page, which no page of ours allows
    javaScriptEnabled: told.scripts,
    viewport: { width: 1280, height: 900 },
    colorScheme: 'light',
})
context.setDefaultTimeout(told.seconds * 1000)
await context.grantPermissions(['clipboard-read', 'clipboard-write'])
const page = await context.newPage()
const eyes = new Eyes(page, { hosts: [new URL(told.auth).host, new URL(origin).host], shots: told.shots, thorough: told.thorough, narrow: told.language !== null })
const hands = told.keyboard ? new Keyboard(page) : new Mouse(page)
try {
    await (told.language ? new Tour({ page, eyes, told }) : new Journey({ page, hands, eyes, told, listener })).whole()
} catch (error) {
    await page.screenshot({ path: join(told.shots, 'failed.png'), fullPage: true })
    eyes.find(error.stack)
}
await browser.close()
back.close()
say({ findings: eyes.findings, looks: eyes.looks })
process.exit(0)
