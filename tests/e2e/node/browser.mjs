// Visits all pages with one browser, and sends the findings. An error ends the visit, with a screenshot of the page.

import { createServer } from 'node:http'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { Inspector } from './inspector.mjs'
import { Keyboard, Mouse } from './input.mjs'
import { AllPages } from './all_pages.mjs'
import { TranslatedPages } from './translated_pages.mjs'
import { receive, send } from './protocol.mjs'

const config = await receive()
mkdirSync(config.screenshots, { recursive: true })

// The application to which the authorization pages redirect.
const application = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><html lang="en"><title>Back</title><link rel="icon" href="data:,"><h1>Back</h1>')
})
await new Promise((ready) => application.listen(0, '127.0.0.1', ready))
const origin = `http://127.0.0.1:${application.address().port}`
const redirect = { origin, url: `${origin}/back` }

const browser = await chromium.launch({
    executablePath: config.chromium,
    // No other host name resolves: a request to another host is a finding, and reaches nothing.
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
})
const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    bypassCSP: config.thorough, // axe runs in the page, which the pages' own policy forbids
    javaScriptEnabled: config.scripts,
    viewport: { width: 1280, height: 900 },
    colorScheme: 'light',
})
context.setDefaultTimeout(config.seconds * 1000)
await context.grantPermissions(['clipboard-read', 'clipboard-write'])
const page = await context.newPage()
const inspector = new Inspector(page, {
    hosts: [new URL(config.auth).host, new URL(origin).host],
    screenshots: config.all_screenshots ? config.screenshots : null,
    thorough: config.thorough,
    narrow: config.language !== null,
})
const input = config.keyboard ? new Keyboard(page) : new Mouse(page)
try {
    const visit = config.language ? new TranslatedPages({ page, inspector, config }) : new AllPages({ page, input, inspector, config, redirect })
    await visit.run()
} catch (error) {
    await page.screenshot({ path: join(config.screenshots, 'failed.png'), fullPage: true })
    inspector.add_finding(error.stack)
}
await browser.close()
application.close()
send({ findings: inspector.findings, inspected: inspector.inspected })
process.exit(0)
